"""The mail server of these tests."""
