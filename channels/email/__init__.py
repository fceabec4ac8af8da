"""Mail to the assistant's own mailbox: polled, proved, and read without quoted history.

`poll` reads it by IMAP, `verify` proves the sender, `written` leaves out quoted history.
"""
