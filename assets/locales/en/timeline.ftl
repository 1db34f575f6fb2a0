# timeline
timeline-axis = Time axis
timeline-minimap = Whole recording
timeline-add = Add a lane
timeline-failed = This lane could not be drawn: { $why }
timeline-unknown-kind = This version does not know lanes of this kind
timeline-loading = Finding out which lanes there are…
timeline-empty = No lanes
timeline-empty-hint = Add one for any metric, service, instance or log, or start with those that matter
timeline-empty-reset = Show the lanes that matter
timeline-more = +{ $n } more
timeline-lane-name = { $lane }, { $kind }
timeline-lane-grip = Drag to move { $lane }
timeline-lane-menu = Menu of { $lane }
timeline-lane-fold = Collapse { $lane }
timeline-lane-unfold = Expand { $lane }
timeline-menu-log = Logarithmic values
timeline-menu-linear = Linear values
timeline-menu-fold = Collapse
timeline-menu-unfold = Expand
timeline-menu-taller = Taller
timeline-menu-shorter = Shorter
timeline-menu-up = Move up
timeline-menu-down = Move down
timeline-menu-table = Show as a table
timeline-menu-entity = Group lanes by entity
timeline-menu-overlay = Overlay a series…
timeline-menu-remove = Remove
timeline-zone = Time zone
timeline-zone-first = Axis
timeline-zone-second = Second axis
timeline-zone-search = Search zones, for example Seoul
timeline-zone-none = No second axis
timeline-zone-local = Local time of this machine
timeline-zone-unknown = No zone has this in its name
timeline-zone-relative = Time since the incident began
timeline-relative-zero = 0 = { $zero }
timeline-add-title = Add a lane
timeline-add-overlay-title = Overlay a series on the active lane
timeline-add-hint = Words in any order: metric, label, service, kind
timeline-add-keys = Enter adds · Shift+Enter overlays on the active lane
timeline-add-count = { $n ->
    [0] Nothing has all these words
    [one] { $n } hit
   *[other] { $n } hits
}
timeline-add-more = The first { $n } of { $total } hits: type more to narrow them
timeline-add-no-overlay = Only a series can be overlaid, and only on a lane that draws series
timeline-go-title = Go to a time
timeline-go-hint = 14:29:10
timeline-go-help = A clock or a date in { $zone }, an epoch, +2m 10s from the start of the incident, or now-5m from the end
timeline-go-wrong = Not a time. Try 14:29:10, 2026-11-30 14:29, +2m 10s, or now-5m (zone: { $zone })
timeline-go-outside = That time lies outside the recording
timeline-box-pick = Pick { $n }
timeline-box-zoom = Zoom
timeline-box-measure = Measure
timeline-no-lane = There is no lane to act on
timeline-no-cursor = Set the cursor first: click on a lane
timeline-no-step = Nothing more in this lane in that direction
timeline-no-table = This lane has no rows of its own
timeline-none-there = There is none in this recording
timeline-none-after = None after the cursor
timeline-none-before = None before the cursor
timeline-edge-inverted = The window would end before it begins
timeline-nothing-to-zoom = Measure a range or pick a finding first
timeline-reads-range = From { $from } to { $to }
timeline-reads-nothing = nothing here
