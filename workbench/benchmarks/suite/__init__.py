"""The benchmarks, a file for each, with floors and goals."""
