"""The loop of model and tools, and the consent gate before each call.

`reasoning` asks the model, `tool_runner` runs tools past the `gate`, `context_window` makes room.
"""
