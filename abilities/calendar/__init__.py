"""People's calendars: read, written, shared with guests, and watched.

`calendars` has all of a person's accounts, `objects` calls the child process, `tools` lists the tools; `agent` has the
shared parts of agents that write, and `letters` and `mailing` notify guests by mail.
"""
