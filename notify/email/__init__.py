"""Answers and news by SMTP."""
