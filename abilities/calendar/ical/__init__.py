"""iCalendar in a child process: read and written, series moved and parted, messages to guests."""
