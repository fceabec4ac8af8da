"""The operator's rules: which tool calls may run, which may not, and which need approval."""
