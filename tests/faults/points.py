"""T2: every named crash point, what is expected there on each channel, and the mutations that must break it.

A turn that dies has two model answers and two tools side by side, one `once`, one `idempotent`.
"""

from dataclasses import dataclass, replace

CHANNELS = ("sms", "slack", "telegram")
FOUND = ("sms", "slack")
"""Where a lost answer can be looked up; elsewhere the stated policy is to send again, counted."""
ACCEPTED_UNSEEN = ("send within, accepted", "send after", "end_delivery before", "upload after")
"""Points at which the provider has a message of which nothing is written down."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What must have happened in the end: bounds, both inclusive.

    `told`: what the answer says of the `once` tool; "acted", or "unsure" where its outcome is unknown. `downloads`:
    of the person's file; `uploads`: of the file that they get; `kept`: how many files they then have; `transcripts`:
    of their voice note; `uses`: how often what the person had agreed to in advance was used and counted.
    """

    answers: tuple[int, int] = (1, 1)
    once: tuple[int, int] = (1, 1)
    again: tuple[int, int] = (1, 1)
    models: tuple[int, int] = (2, 2)
    told: tuple[str, ...] = ("acted",)
    ambiguous: tuple[int, int] = (0, 0)
    downloads: tuple[int, int] = (0, 0)
    uploads: tuple[int, int] = (0, 0)
    kept: tuple[int, int] = (0, 0)
    transcripts: tuple[int, int] = (0, 0)
    uses: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Point:
    """Where a process dies (or loses an answer), and what is expected. `process`: the kind that is struck."""

    name: str
    process: str
    expected: Expected
    why: str

    @property
    def model_is_down(self) -> bool:
        """Return whether the model fails until the point is met."""
        return self.name.startswith("await_model ")

    @property
    def fault(self) -> str:
        """Return what the provider does meanwhile, empty: nothing amiss."""
        return {
            "send within, not accepted": "timeout_before",
            "send within, accepted": "timeout_after",
            "fetch within": "drip",
        }.get(self.name, "")

    @property
    def has_file(self) -> bool:
        """Return whether the text comes with a file."""
        return self.expected.kept != (0, 0)

    @property
    def has_upload(self) -> bool:
        """Return whether the text is answered with a file."""
        return self.expected.uploads != (0, 0)

    @property
    def has_voice(self) -> bool:
        """Return whether that file is a voice note."""
        return self.expected.transcripts != (0, 0)

    @property
    def has_consent(self) -> bool:
        """Return whether the text asks for what its person has agreed to in advance."""
        return self.expected.uses != (0, 0)

    def on(self, channel: str) -> Expected:
        """Return what is expected on a channel."""
        if self.has_upload and self.name in ACCEPTED_UNSEEN and channel not in FOUND:
            return replace(self.expected, uploads=(2, 2))
        if self.name in ACCEPTED_UNSEEN and channel not in FOUND:
            return replace(self.expected, answers=(2, 2))
        return self.expected


@dataclass(frozen=True, slots=True)
class Mutation:
    """A write that is removed, at a point whose expectation must then be missed, and how."""

    drop: str
    point: str
    channel: str
    missed: str


_WELL = Expected()
_ASKED_AGAIN = Expected(models=(2, 3))
_DOWN = Expected(models=(5, 8))
"""Three tries fail before the turn is put off; where that was not written, they may fail once more."""
_UNSURE = Expected(once=(0, 0), again=(1, 2), told=("unsure",))
_ACTED_UNSURE = Expected(once=(1, 1), again=(1, 2), told=("unsure",))
_LOOKED_UP = Expected(ambiguous=(0, 1))
_FETCHED_ONCE = Expected(once=(0, 0), again=(0, 0), models=(1, 1), told=("",), downloads=(1, 1), kept=(1, 1))
"""After a file no tool acts without consent, so that the text asks for none."""
_UPLOADED = Expected(once=(0, 0), again=(0, 0), told=("",), ambiguous=(0, 1), uploads=(1, 1))
_FETCHED_AGAIN = replace(_FETCHED_ONCE, downloads=(2, 2))
_HEARD_ONCE = replace(_FETCHED_ONCE, transcripts=(1, 1))
_HEARD_AGAIN = replace(_FETCHED_ONCE, transcripts=(2, 2))
_AGREED = Expected(again=(0, 0), told=("",), uses=(1, 1))


def _around(statement: str, process: str, before: Expected, after: Expected, why: str) -> list[Point]:
    return [
        Point(f"{statement} before", process, before, why),
        Point(f"{statement} after", process, after, why),
        Point(f"{statement} unknown", process, after, why),
    ]


POINTS: tuple[Point, ...] = (
    *_around("receive_messages", "web", _WELL, _WELL, "not acknowledged: it comes again; kept: it is known"),
    Point("acknowledged", "web", _WELL, "the provider has its 2xx and will not come again: it is kept"),
    Point("claim_lane after", "worker", _WELL, "the lease ends and another worker takes up the turn that had begun"),
    Point("claim_lane unknown", "worker", _WELL, "begun twice under one fence is begun once"),
    *_around("model", "worker", _ASKED_AGAIN, _WELL, "an answer that is not written is asked for again"),
    *_around("await_model", "worker", _DOWN, _DOWN, "the lease ends, or the turn is due again: asked again, told once"),
    *(
        Point("started before", "worker", Expected(again=(1, 2)), "nothing had started"),
        Point("started after", "worker", _UNSURE, "it had started: not run again, and told"),
        Point("started unknown", "worker", _WELL, "the write is repeated and the turn goes on"),
    ),
    Point("once.entered", "worker", _UNSURE, "it had started: not run again, and told"),
    Point("once.acted", "worker", _ACTED_UNSURE, "it acted once and nobody knows: not run again, and told"),
    Point("again.acted", "worker", Expected(again=(2, 2)), "the idempotent one runs again with its key, the other not"),
    *(
        Point("result before", "worker", _ACTED_UNSURE, "its end was not written: not run again, and told"),
        Point("result after", "worker", Expected(again=(1, 2)), "its end is written: not run again, and known"),
        Point("result unknown", "worker", _WELL, "the write is repeated and the turn goes on"),
    ),
    *_around(
        "finish_turn",
        "worker",
        _ASKED_AGAIN,
        _WELL,
        "the turn ends, its answer claimed, or not at all",
    ),
    Point("begin_rendered before", "worker", _WELL, "no call had left, and nothing was rendered"),
    Point("begin_rendered after", "worker", _LOOKED_UP, "the rendering is kept; looked up, not found, sent"),
    Point("begin_rendered unknown", "worker", _WELL, "the write is repeated and the call leaves once"),
    Point("send before", "worker", _LOOKED_UP, "looked up, not found, sent"),
    Point("send within, not accepted", "worker", _LOOKED_UP, "no answer yet: looked up, not found, sent"),
    Point("send within, accepted", "worker", _LOOKED_UP, "no answer yet: looked up and found, or sent again, counted"),
    Point("send after", "worker", _LOOKED_UP, "looked up and found; Telegram cannot be asked, and is sent to again"),
    Point("end_delivery before", "worker", _LOOKED_UP, "the same: accepted, and not written down"),
    Point("end_delivery after", "worker", _WELL, "written down: not sent again"),
    Point("end_delivery unknown", "worker", _WELL, "the write is repeated"),
    Point("upload before", "worker", _UPLOADED, "looked up, not found, sent; the text before it is not sent again"),
    Point("upload halfway", "worker", _UPLOADED, "Slack has the bytes and shows nothing: uploaded again, shared once"),
    Point("upload after", "worker", _UPLOADED, "looked up and found; Telegram cannot be asked, and is sent to again"),
    Point("fetch before", "worker", _FETCHED_ONCE, "nothing was fetched yet"),
    Point("fetch within", "worker", _FETCHED_AGAIN, "half a file is none: it is fetched again"),
    Point("fetch after", "worker", _FETCHED_AGAIN, "what is not stored is fetched again"),
    Point("decode within", "worker", _FETCHED_AGAIN, "the same: the child process ends by itself"),
    *(
        Point("begin_file before", "worker", _FETCHED_AGAIN, "nothing was stored"),
        Point("begin_file after", "worker", _FETCHED_AGAIN, "a row without bytes: they follow under the same key"),
        Point("begin_file unknown", "worker", _FETCHED_ONCE, "the write is repeated"),
    ),
    Point("store before", "worker", _FETCHED_AGAIN, "the same"),
    Point("store after", "worker", _FETCHED_AGAIN, "the bytes are stored again under the same key, once in all"),
    *(
        Point("end_file before", "worker", _FETCHED_AGAIN, "the same"),
        Point("end_file after", "worker", _FETCHED_ONCE, "it is stored: the turn goes on without a second download"),
        Point("end_file unknown", "worker", _FETCHED_ONCE, "the write is repeated"),
    ),
    Point("transcribe before", "worker", _HEARD_ONCE, "the note is stored, and nobody was asked yet"),
    Point(
        "transcribe within",
        "worker",
        replace(_HEARD_AGAIN, transcripts=(1, 2)),
        "no answer yet: asked again, if it was asked at all",
    ),
    Point("transcribe after", "worker", _HEARD_AGAIN, "what is not kept is asked again, and paid once"),
    *(
        Point("keep_transcript before", "worker", _HEARD_AGAIN, "the same"),
        Point("keep_transcript after", "worker", _HEARD_ONCE, "it is kept: neither fetched nor heard again"),
        Point("keep_transcript unknown", "worker", _HEARD_ONCE, "the write is repeated"),
    ),
    *_around("use_consent", "worker", _AGREED, _AGREED, "counted once, found by whoever goes on, and run once"),
    *_around("hear_message", "worker", _HEARD_ONCE, _HEARD_ONCE, "the words are written again from the transcript"),
)
BY_NAME = {point.name: point for point in POINTS}

MUTATIONS: tuple[Mutation, ...] = (
    Mutation("receive_messages", "receive_messages unknown", "telegram", "answers"),
    Mutation("inbox keys", "receive_messages after", "telegram", "once"),
    Mutation("model", "model after", "sms", "models"),
    Mutation("started", "once.acted", "sms", "once"),
    Mutation("result", "result after", "sms", "told"),
    Mutation("outbound", "finish_turn after", "sms", "answers"),
    Mutation("begin_rendered", "send after", "slack", "answers"),
    Mutation("end_delivery", "end_delivery after", "telegram", "answers"),
    Mutation("end_file", "end_file after", "sms", "downloads"),
    Mutation("use_consent", "use_consent unknown", "sms", "uses"),
    Mutation("keep_transcript", "keep_transcript after", "sms", "transcripts"),
)
"""Each removes one protecting write; `missed` names the expectation that fails then."""
