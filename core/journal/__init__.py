"""The record of a turn's steps so far, so that a successor repeats none of them."""
