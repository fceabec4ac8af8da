"""For those who run it: the console, `doctor`, backups, people's data as a whole, and the door for programs."""
