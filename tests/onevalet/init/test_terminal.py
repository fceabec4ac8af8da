"""The terminal of these tests is as patient as a person, who presses a key when the program can hear it."""

from pathlib import Path

from tests.onevalet.init.terminal import CTRL_C, in_terminal

_DEAF_AT_FIRST = """
import select, signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
print("Token: ", end="", flush=True)
select.select([], [], [], 0.3)
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    input()
except KeyboardInterrupt:
    print("Stopped")
"""


def test_ctrl_c_is_pressed_when_the_program_reads(tmp_path: Path) -> None:
    with in_terminal(tmp_path, "-c", _DEAF_AT_FIRST) as terminal:
        terminal.see("Token: ")
        terminal.press(CTRL_C)
        terminal.see("Stopped")
        assert terminal.end() == 0
