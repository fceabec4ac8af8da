"""Tests of what things cost, told before."""
