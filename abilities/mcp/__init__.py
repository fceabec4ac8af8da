"""Tools of MCP servers: found, accepted by the operator or the person, checked and called.

`sdk` alone imports the SDK, `hearing` counts a server's output, over `pipes` and `over_http`, `connections` keeps and
checks connections, `schema` translates parameters into our own checks, `wording` cleans servers' texts, `tools` offers
the tools accepted by `accepting`; `opening` puts it together.
"""
