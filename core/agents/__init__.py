"""Agents as tools: the fields that they collect, and the pool of waiting agents."""
