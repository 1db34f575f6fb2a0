# The bar, the status line, the drawer's head.
menu = Menu
menu-file = File
menu-edit = Edit
menu-move = Go
menu-lanes = Lanes
menu-findings = Findings
menu-view = View
menu-look = Look
bar-search = Search or run a command
bar-undo = Undo
bar-redo = Redo
bar-export = Export the timeline
bar-partial = Partial
bar-partial-hint = Some inputs were lost or cut short. What is shown is right; see Inputs for the rest
bar-reading = Reading…
bar-look = Theme, language, size
look-dark = Dark
look-light = Light
look-contrast = High contrast
look-bigger = Bigger
look-smaller = Smaller
look-motion = Less motion
drawer-trace = Traces
drawer-dump = Profiles
drawer-table = Tables
drawer-compare = Compare
drawer-notes = Timeline & notes
drawer-inputs = Inputs
drawer-close = Close
drawer-expand = Whole height
drawer-shrink = Part of the height
status-analysing = Looking for causes…
status-reading = Reading { $read } of { $found } · { $bytes }
status-cancel = Cancel
status-inputs = { $n ->
    [one] { $n } input
   *[other] { $n } inputs
}
status-series = { $n } series
status-samples = { $n } samples
status-spans = { $n } spans
status-requests = { $n } requests
status-profiles = { $n } profiles
status-longest-frame = Longest frame so far
told-picked = { $n ->
    [one] { $n } place picked
   *[other] { $n } places picked
}
status-measured = measured
status-measuring = measuring from
menu-replay = Practise
