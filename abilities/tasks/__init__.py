"""What makes the assistant write first: tasks, when they are due, and their runs."""
