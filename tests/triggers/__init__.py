"""Tasks across processes, under load and kills."""
