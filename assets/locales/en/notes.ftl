# The incident timeline and notes
notes-analysing = The timeline is there as soon as the analysis is done
notes-add = Add event
notes-all = All entries
notes-minor = Minor and worse
notes-major = Major and worse
notes-critical = Critical only
notes-least = Show entries from this severity on
notes-hidden = Hidden ({ $n })
notes-count = { $n ->
    [one] { $n } entry
   *[other] { $n } entries
}
notes-summary = Summary on top of the exported timeline
notes-list = Entries of the timeline
notes-empty = No entry at this severity
notes-is-hidden = hidden
notes-delete = Delete
notes-hide = Leave out of the export
notes-restore = Take in again
notes-follow = Show on the timeline
notes-first = Found as: { $title }
notes-dismissed = Dismissed: { $reason }
notes-comment = Note: { $text }
notes-title = Title of the entry
notes-title-own = What happened
notes-start = Start
notes-end = End, or empty
notes-text = More about it
notes-save-new = Add
notes-save = Save
notes-cancel = Cancel
notes-own-words = Restore
notes-unsaved = Not saved yet
notes-wrong-title = Write what happened
notes-wrong-start = The start is no time: write 14:29:10 or 2026-11-30 14:29:10
notes-wrong-end = The end is no time: write 14:29:10 or leave it empty
notes-wrong-order = The end lies before the start
notes-preview = As it will be written
notes-form = Form of the export
notes-export = Export…
notes-binary = A binary file of { $size }
notes-wait = Writing…
notes-more-lines = … and { $n } more lines
notes-export-early = The timeline can be exported as soon as the analysis is done
notes-export-busy = Too much is going on at once; try again
notes-exported = Exported to { $path }
notes-export-failed = Not exported: { $why }

# Forms
form-text = Text
form-md = Markdown
form-json = JSON
form-csv = CSV
form-parquet = Parquet
form-html = HTML

# Undo
undo-done = Undone: { $what }
redo-done = Done again: { $what }
undo-event = event
undo-event-back = event
undo-entry = edit of an entry
undo-summary = summary
undo-pin = pin
undo-dismiss = dismissal
undo-verdict = verdict
undo-comment = note
undo-lanes = lanes
undo-view = view
