"""The tools of operators: the console, `doctor`, backups, people's data as a whole, and the access for programs."""
