# notes
