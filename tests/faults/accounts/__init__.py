"""T2's part about people's accounts: mail, calendars, tokens and mailboxes, on real servers."""
