"""Tools of MCP servers: found, accepted by the operator or the person, checked and called.

`sdk` alone imports the SDK, `hearing` counts what a server says, over `pipes` and `over_http`, `connections` keeps
and checks, `schema` translates parameters into our own checks, `wording` cleans what servers write, `tools` offers
what was accepted by `accepting`; `opening` puts it together.
"""
