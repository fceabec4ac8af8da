"""What is measured, a file for each benchmark, with floors and goals."""
