"""Whole conversations as files: played on an installation with simulated providers, and recorded there."""
