"""The door for people's programs: an MCP server that proves their tokens and asks on their behalf.

`door` proves the token, `sdk` alone imports the SDK's server, `tools` are what it offers, `asking` hands to the
inbox.
"""
