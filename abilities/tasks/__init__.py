"""The assistant's own initiative: tasks, their schedules, and their runs."""
