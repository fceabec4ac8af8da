"""The door for people's programs: an MCP server that proves their tokens and asks on their behalf.

`door` proves the token, `sdk` alone imports the SDK's server, `tools` has its tools, `asking` hands requests to the
inbox.
"""
