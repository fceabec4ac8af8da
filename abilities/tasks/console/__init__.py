"""The pages of tasks in the console: the list, the calendar, and one task."""
