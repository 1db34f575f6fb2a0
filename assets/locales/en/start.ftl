# The welcome page
start-what = See what is missing, what is unusual, and what explains it
start-open = Open
start-open-button = Open files or a folder…
start-drop = Or drop files, folders, archives or bundles anywhere on this window
start-formats = Prometheus, X-Ray and nginx recordings, Go dumps and profiles, lists of events
start-palette = Search everything (Ctrl+K)
start-keys = Shortcuts (?)
start-samples = Sample incidents
start-sample-open = Open the sample { $name }
start-recent = Recent
start-recent-none = What you open is listed here
start-recent-open = Open { $name } again
start-missing = Not there any more: { $path }
start-forget = Take { $name } off the list

# While it reads
progress-title = Reading { $name }
progress-analysing = Looking for causes
progress-counts = { $read } of { $found } inputs read · { $bytes }
progress-cancel = Cancel
progress-bar = Share of the inputs that is read

# Nothing useful
failed-title = Nothing could be read from this
failed-empty = No file was found there
failed-what-to-do = Open a folder with recordings of the incident: answers of Prometheus or X-Ray, access logs, dumps, a list of what was changed. "tailscope inspect" says what it makes of each file.
failed-open = Open something else…
failed-again = Try again
failed-copy = Copy the reasons
failed-back = Back
failed-more = { $n ->
    [one] and { $n } more
   *[other] and { $n } more
}

# Dropping
drop-open = { $n ->
    [one] Drop to open
   *[other] Drop to open { $n } items
}
drop-what = Files, folders, archives and bundles
drop-replaces = It takes the place of what is open; your notes are kept

# The dialog that opens and saves
files-open-title = Open an incident
files-save-title = Export the incident timeline
files-up = Folder above
files-hidden = Hidden files
files-path = Path; Tab completes it
files-list = Files in this folder
files-empty = Nothing here by that name
files-wait = Reading the folder…
files-missing = There is no { $name } in this folder
files-no-name = Give the file a name
files-form = Form
files-open = Open
files-open-folder = Open this folder
files-open-picked = { $n ->
    [one] Open { $n } item
   *[other] Open { $n } items
}
files-save = Export
files-writing = Writing…
files-cancel = Cancel
files-exists = { $name } is there already
files-replace = Replace it
files-keep = Change the name
files-left-out = { $n } more are not listed; type to narrow
files-keys = Tab completes · Down goes to the list · Space picks several · Ctrl+Enter opens
files-keys-save = Tab completes · Down goes to the list · Enter exports

# The palette
palette-hint = Search commands, causes, findings, lanes, services, series, traces…
palette-none = Nothing is called "{ $query }"
palette-wait = Searching…
palette-count = { $shown } of { $total }
palette-keys = Up and Down choose · Enter does it · Esc closes
palette-kind-command = Command
palette-kind-cause = Cause
palette-kind-finding = Finding
palette-kind-lane = Lane
palette-kind-service = Service
palette-kind-entity = Entity
palette-kind-table = Table
palette-kind-event = Event
palette-kind-series = Series
palette-kind-trace = Trace
palette-kind-recent = Recent
palette-kind-theme = Theme
palette-kind-language = Language
palette-kind-zone = Time zone
sheet-title = Keyboard shortcuts
sheet-search = Search shortcuts
sheet-close = Close
