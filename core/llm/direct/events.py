"""Server-sent events as models stream them: bytes in, the data of each event out; pure.

The format is that of the HTML standard ("Server-sent events"): lines `data: …`, of which a blank line ends an event.
"""

MAX_LINE = 4 * 1024 * 1024
"""Bytes of one line; an event is one line with every provider."""
DONE = b"[DONE]"
"""The data by which OpenAI and those who follow it end a stream."""


class EventReader:
    """Cuts a stream into events; a line may come in any number of parts."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, received: bytes) -> list[bytes]:
        """Return the data of the events that are whole by now. Raises `ValueError` for an endless line."""
        *lines, self._rest = (self._rest + received).split(b"\n")
        if len(self._rest) > MAX_LINE:
            raise ValueError("a line without end")
        events = []
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[5:].strip())
            elif self._data and not line.rstrip(b"\r"):
                events.append(b"\n".join(self._data))
                self._data.clear()
        return events

    def end(self) -> list[bytes]:
        """Return the data of an event that no blank line ended before the stream did."""
        return self.feed(b"\n\n")
