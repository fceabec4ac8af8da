"""The assistant's work with files that people send: it sees, hears, reads, searches and sends them."""
