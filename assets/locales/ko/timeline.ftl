# timeline
