# table
table-choose = Table
table-filter = Filter the rows
table-filter-hint = Filter: words, column:word, column>number
table-filter-help =
    Words in any order are looked for in every column; "two words" as one; -word leaves rows out.
    column:word, column=value, column!=value; duration_ms>1s, status>=500, t>14:30:20
    A name that is no column is looked for among labels and attributes: pod:gateway
table-clear = Clear the filter
table-rows = { $n } rows
table-rows-of = { $n } of { $all }
table-shown-only = Only rows of the time that the timeline shows
table-picked-only = { $n } picked
table-copy-csv = Copy the rows shown as CSV (20,000 at most)
table-copy-cell = Copy the value
table-copy-row = Copy the row as CSV
table-copied-cell = Value copied
table-copied-row = Row copied as CSV
table-copied-all = { $n } rows copied as CSV
table-copied-some = The first { $n } rows copied as CSV; filter for fewer, or export the table for all
table-open = Go there
table-keep = Only rows with this value
table-sort-none = Sort by { $column }
table-sort-up = Sorted by { $column }, smallest first. Click for largest first
table-sort-down = Sorted by { $column }, largest first. Click for no order
table-grid = Table { $table }, { $n ->
    [one] 1 row
   *[other] { $n } rows
}. { $row }
table-page = Rows { $from } to { $to } of { $all }
table-page-back = Rows before
table-page-next = Rows after
table-loading = Reading the rows …
table-analysing = The analysis is still running
table-failed = The rows could not be made
table-none = None of { $all } rows passes the filter
table-none-shown = Only rows of the time that the timeline shows are let through
table-empty = No rows in { $table }
table-empty-series = Prometheus answers fill it: query results, range selectors, remote read, or an exposition
table-empty-samples = Prometheus answers fill it: query results, range selectors, remote read, or an exposition
table-empty-spans = Traces fill it, for example the answers of X-Ray's BatchGetTraces
table-empty-requests = Access logs fill it: nginx and ingress-nginx, as lines or JSON
table-empty-profiles = Goroutine dumps and pprof profiles fill it
table-empty-stacks = Goroutine dumps and pprof profiles fill it
table-empty-events = A list of changes fills it: events.csv or events.jsonl with a time and a title
table-empty-log-lines = This version reads no log lines yet; access logs are in requests
table-empty-runs = This version reads no load tests yet
table-empty-findings = Nothing unusual was found in what was read
table-empty-hypotheses = No cause explains what was found
table-doc-series = One time series
table-doc-samples = One sample of a series
table-doc-spans = One span of a trace
table-doc-requests = One line of an access log
table-doc-profiles = One profile or dump
table-doc-stacks = Stacks of a profile that are alike
table-doc-events = Something that happened or was done
table-doc-log-lines = One line of a log
table-doc-runs = One load test
table-doc-findings = One finding
table-doc-hypotheses = One possible cause
table-fault-column = There is no column { $name }; put it in quotes to look for it as text
table-fault-value = A value is missing after { $text }
table-fault-number = { $column } needs a number, not “{ $got }”
table-fault-time = { $column } needs a time such as 14:30:20, not “{ $got }”
table-fault-order = { $column } is text: use : or = in place of < and >
table-fault-quote = A quotation mark is not closed
table-fault-long = The word is too long to look for
table-sql = SQL query
table-sql-open = Ask in SQL over all tables
table-sql-hint = SELECT service, COUNT(*) FROM spans GROUP BY service
table-sql-run = Run
table-sql-stop = Stop
table-sql-history = Earlier queries
table-sql-no-history = No query was run yet
table-sql-tables = Tables and columns
table-sql-back = Back to the table
table-sql-running = The query is running …
table-sql-stopped = Stopped waiting
table-sql-stopped-why = The query may still run to its end; its answer is ignored
table-sql-failed = The query has no answer
table-sql-no-rows = The answer has no rows
