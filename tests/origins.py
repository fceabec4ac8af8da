"""Where something was made, noted in microseconds: the lines of source are read only when somebody asks."""

import sys
import traceback
from types import FrameType

type Origin = list[tuple[str, int, str]]
"""Frames as file, line and function, the innermost last."""


def origin(most: int) -> Origin:
    """Return the frames that called the caller."""
    frames: Origin = []
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and len(frames) < most:
        frames.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        frame = frame.f_back
    return frames[::-1]


def told(frames: Origin) -> str:
    """Return frames as a traceback shows them."""
    return "".join(traceback.format_list([(*frame, None) for frame in frames]))
