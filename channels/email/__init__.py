"""Mail to the assistant's own mailbox: polled, proved, and read without what was quoted.

`poll` reads it by IMAP, `verify` proves the sender, `written` leaves out what was quoted.
"""
