"""JSON as a type, so that no untyped bag crosses a folder's border."""

type Json = None | bool | int | float | str | list[Json] | dict[str, Json]
type JsonObject = dict[str, Json]
