"""Measurements, run by hand: `bin/uv run -m workbench.benchmarks` writes docs/performance.md."""
