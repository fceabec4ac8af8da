"""structlog imported without `rich`, which the command line brings for its help.

structlog imports `rich`, if installed, to draw tracebacks that our logs never have (`log_errors`): 3 MB in every
process, with its lexers.
"""

import importlib
import sys


def import_structlog() -> None:
    """Import structlog without `rich`, unless either is imported already."""
    if "structlog" in sys.modules or "rich" in sys.modules:
        return
    sys.modules["rich"] = None  # type: ignore[assignment]  # Python's own mark for a module that is not there
    try:
        importlib.import_module("structlog")
    finally:
        del sys.modules["rich"]
