"""Answers to chat words without a model: the dispatch, and one file for each room whose words they are."""
