"""People's calendars: read, written, shared with guests, and watched.

`calendars` has all of a person's accounts, `objects` is the door to the child process, `tools` lists the tools;
`agent` has what those that write share, and `letters` and `mailing` tell guests by mail.
"""
