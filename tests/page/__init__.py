"""Tests of the simulator's page, in a real browser."""
