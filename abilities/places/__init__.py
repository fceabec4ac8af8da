"""Where a person is: places that they send, share live or tell by a link."""
