"""Tests of MCP servers."""
