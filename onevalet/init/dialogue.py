"""Questions and their answers: in a terminal, or by flags if there is no terminal."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import typer

from core.errors import ConfigError

KEEPS = "Enter keeps the present one"


class Wrong(Exception):
    """An answer that cannot be used; the text is a sentence with the reason and the remedy."""


@dataclass(frozen=True, slots=True)
class Option:
    """A selectable answer. `key` is its value for a flag; options of a `group` are shown together, in order."""

    key: str
    title: str
    group: str = ""


class Dialogue:
    """Ask for answers that no flag gave. Without a terminal, a missing or wrong answer raises `ConfigError`.

    `given` maps the names of questions, which are those of settings, to answers. Ctrl-C raises `typer.Abort`.
    """

    def __init__(self, given: Mapping[str, str], *, interactive: bool) -> None:
        self.interactive = interactive
        self._given = dict(given)

    def say(self, text: str = "") -> None:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    def is_given(self, *names: str) -> bool:
        return any(name in self._given for name in names)

    def given(self, name: str) -> str:
        """Return the answer of a flag; empty if there is none."""
        return self._given.get(name, "")

    @property
    def unused(self) -> list[str]:
        """Return the given names that no question used."""
        return sorted(self._given)

    def ask(self, name: str, question: str, *, default: str = "", secret: bool = False, enter: str = KEEPS) -> str:
        """Return the answer to a question; Enter stands for `default`, and `enter` describes a secret default."""
        if name in self._given:
            return self._given.pop(name)
        if not self.interactive:
            if default:
                return default
            raise ConfigError(f"{name} is missing: add --set {name}=… (the value, or @ and the name of a file).")
        words = f"{question} ({enter})" if secret and default else question
        while True:
            typed = (
                typer.prompt(words, default="", show_default=False, hide_input=secret)
                if secret
                else _line(words, default)
            )
            if answer := _bare(typed, name) or default:
                return answer
            self.say("  An answer is needed here; Ctrl-C ends this, and keeps what was saved.")

    def ask_until[Proof](
        self, name: str, question: str, prove: Callable[[str], Proof], *, default: str = "", secret: bool = False
    ) -> tuple[str, Proof]:
        """Return an answer and the result of its proof; `prove` raises `Wrong`, and the question is asked again."""
        while True:
            answer = self.ask(name, question, default=default, secret=secret)
            try:
                return answer, prove(answer)
            except Wrong as wrong:
                self.refuse(name, wrong)

    def choose(self, name: str, question: str, options: Sequence[Option], default: str) -> str:
        """Return the key of the chosen option; options are numbered."""
        if self.interactive and name not in self._given:
            self.say(question)
            numbered = list(enumerate(options, start=1))
            for group, members in groupby(numbered, key=lambda pair: pair[1].group):
                if group:
                    self.say(f"  {group}:")
                for number, option in members:
                    self.say(f"  {number:>3}  {option.title}")
        keys = [option.key for option in options]
        shown = str(keys.index(default) + 1) if self.interactive and name not in self._given else default
        return self.ask_until(name, "Number", lambda answer: _pick(answer, keys), default=shown)[1]

    def confirm(self, question: str, *, default: bool) -> bool:
        """Ask for yes or no; without a terminal, `default` is the answer."""
        return typer.confirm(question, default=default) if self.interactive else default

    def pause(self, words: str) -> None:
        """Wait until Enter is pressed."""
        if self.interactive:
            typer.prompt(words, default="", show_default=False, prompt_suffix="")

    def refuse(self, name: str, wrong: Wrong) -> None:
        """Print the problem with an answer; without a terminal, raise it."""
        if not self.interactive:
            raise ConfigError(f"{name}: {wrong}")
        self.say(f"  {wrong}")


def _line(words: str, default: str) -> str:
    return str(typer.prompt(words, default=default, show_default=bool(default)))


def _bare(answer: str, name: str) -> str:
    """Return an answer without the usual leftovers of pasting: spaces, quotes, the setting's own name."""
    text = answer.strip().removeprefix(f"{name}=")
    return text[1:-1].strip() if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def _pick(answer: str, keys: Sequence[str]) -> str:
    if answer in keys:
        return answer
    if answer.isdecimal() and 1 <= int(answer) <= len(keys):
        return keys[int(answer) - 1]
    raise Wrong(f"There is no {answer!r}: answer with a number from 1 to {len(keys)}, or one of {', '.join(keys)}.")
