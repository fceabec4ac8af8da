"""Agents as tools: the fields that they collect, and the pool of those that wait."""
