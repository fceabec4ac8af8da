"""T23: processes are killed while people join and leave a household, and while two of it give their consent."""
