"""Mailboxes by IMAP, mail by SMTP, and messages read and written.

`mailbox` is any mailbox, `client` opens the assistant's own.
"""
