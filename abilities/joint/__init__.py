"""Actions for which two people of a household must give their consent."""
