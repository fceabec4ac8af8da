"""The code of the child process: a reader for each kind of file."""
