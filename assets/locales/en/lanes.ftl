# lanes
lane-findings = Findings
lane-events = Events
lane-health = Scrape health
lane-states = States and runs
lane-quantiles = Latency quantiles
lane-connects = Connect times
lane-scatter = Requests and traces
lane-metric = Metric
lane-dumps = Dumps and profiles
lane-empty = Nothing to show
lane-empty-of = Nothing of { $what }
lane-no-findings = No findings
lane-no-events = No events
lane-no-sample = no sample
lane-own-scale = own scale
lane-event-now = going on
lane-event-before = last before
lane-slowest-of = { $n ->
    [one] one ±0.5 s
   *[other] slowest of { $n } ±0.5 s
}
lane-rung-syn = SYN retry { $time }
lane-rung-dns = DNS retry { $time }
lane-severity-info = info
lane-severity-minor = minor
lane-severity-major = major
lane-severity-critical = critical
lane-health-up = answered
lane-health-failed = failed
lane-health-missing = not there
lane-health-more = { $n ->
    [one] +{ $n } more target
   *[other] +{ $n } more targets
}
lane-cause-scrape_timeout = timed out
lane-cause-connection_refused = connection refused
lane-cause-connection_failed = connection failed
lane-cause-http_error = HTTP error
lane-cause-scrape_failed = scrape failed
lane-cause-bad_exposition = unreadable answer
lane-cause-limit_exceeded = limit exceeded
lane-cause-target_restarted = target restarted
lane-cause-series_vanished = series vanished
lane-cause-target_removed = target removed
lane-cause-timestamps_rejected = timestamps rejected
lane-cause-prometheus_restarted = Prometheus restarted
lane-cause-prometheus_stalled = Prometheus stalled
lane-cause-isolated_miss = single miss
lane-cause-query_artifact = made by the query
lane-cause-unknown = cause unknown
lane-note-analysing = Analysing…
lane-note-findings = { $n ->
    [one] { $n } finding
   *[other] { $n } findings
}
lane-note-events = { $n ->
    [one] { $n } event
   *[other] { $n } events
}
lane-note-health = { $n } of { $all } with failures
lane-note-dumps = { $n ->
    [one] { $n } dump
   *[other] { $n } dumps
}
lane-note-timeless = { $n } without a time
lane-note-runs = { $n ->
    [one] { $n } run
   *[other] { $n } runs
}
lane-note-starts = { $n ->
    [one] { $n } process start
   *[other] { $n } process starts
}
lane-note-requests = { $n } requests
lane-note-traces = { $n } traces
lane-note-connects = { $n } connects
lane-note-errors = { $n } failed
lane-note-without = { $n } without a duration
lane-note-quantiles = p50–p99 and mean per { $width }
lane-note-estimated = estimated in buckets
lane-note-few = faint: few observations
lane-note-lines = { $n } series
lane-note-lines-of = { $n } of { $all } series, the rest as a band
lane-note-others-cut = band of { $n } of them
lane-note-rate = rate per second
lane-note-resets = { $n ->
    [one] { $n } restart
   *[other] { $n } restarts
}
lane-note-held = held values
lane-note-own-scale = overlay on its own scale
lane-note-step = min–max per { $step }
lane-measure-count = Count
lane-measure-min = Min
lane-measure-max = Max
lane-measure-mean = Mean
lane-measure-median = Median
lane-measure-slope = Slope
lane-measure-errors = Failed
lane-measure-outliers = Outliers
lane-measure-lost = no answer for
