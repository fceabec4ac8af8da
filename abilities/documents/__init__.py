"""The text of people's files, read in a child process: PDFs, documents, sheets, pictures, recordings."""
