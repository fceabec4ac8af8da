"""The pages of tasks in the console: the list, the calendar, and the page of a task."""
