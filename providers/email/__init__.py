"""Mailboxes by IMAP, mail by SMTP, and messages read and written.

`mailbox` is anybody's, `client` opens the assistant's own.
"""
