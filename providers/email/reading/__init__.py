"""Messages by mail, parsed in a child process."""
