"""The answers to chat words, one file for each room whose words they are."""
