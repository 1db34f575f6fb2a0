# timeline
timeline-axis = Time axis
timeline-failed = This lane could not be drawn: { $why }
