"""Server-sent events as models stream them: bytes in, the data of each event out; pure.

The format is that of the HTML standard ("Server-sent events"): lines `data: …`, of which a blank line ends an event.
"""

MAX_LINE = 1024 * 1024
"""Bytes of one line, or of an event's lines: no event is longer than a whole answer may be."""
DONE = "[DONE]"
"""The data by which OpenAI and those who follow it end a stream."""


class EventReader:
    """Cuts a stream into events; a line may come in any number of parts."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[str] = []
        self._room = MAX_LINE

    def feed(self, received: bytes) -> list[str]:
        """Return the data of the events that are whole by now.

        Raises `ValueError` for an endless line or event, and for what is no UTF-8.
        """
        end = received.rfind(b"\n")
        if end >= 0:
            received, rest = bytes(self._rest) + received[:end] if self._rest else received[:end], received[end + 1 :]
            self._rest = bytearray(rest)
        else:
            self._rest += received
        if len(self._rest) > MAX_LINE:
            raise ValueError("a line without end")
        if end < 0:
            return []
        events, data = list[str](), self._data
        for line in received.decode().split("\n"):
            if line.startswith("data:"):
                data.append(line[5:].strip())
                self._room -= len(line)
                if self._room < 0:
                    raise ValueError("an event without end")
            elif data and (not line or line == "\r"):
                events.append(data[0] if len(data) == 1 else "\n".join(data))
                data.clear()
                self._room = MAX_LINE
        return events

    def end(self) -> list[str]:
        """Return the data of an event that no blank line ended before the stream did."""
        return self.feed(b"\n\n")
