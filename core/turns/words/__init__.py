"""Answers to chat words without a model: the dispatch, and a file for each room with words."""
