"""What runs in the child process: a reader for each kind of file."""
