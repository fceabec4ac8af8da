"""Hooks at the moments of a turn, among them rules, which decide about calls, and judges, which rate the turn."""
