"""The parts of held answers in a worker: the hold on deliveries, the services of turns, the end of the wait."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial

from abilities.cost.held import HeldAnswers, end_waits
from abilities.cost.holding import LongAnswers
from abilities.cost.links import AnswerLinks
from abilities.cost.settings import CostSettings
from abilities.cost.spared import count_spared
from core.budgets.self_started import SparedCalls
from core.credentials.secret_keys import SecretKeys
from core.messaging.holding import Holding
from core.turns.services import ForTurn
from onevalet.ability import Repeated
from onevalet.foundations import OpeningFoundation, WorkFoundation


def open_holding(foundation: OpeningFoundation) -> None:
    """Offer the hold on deliveries, and the count of calls that quiet hours spare."""
    answers = LongAnswers(
        foundation.database,
        foundation.clock,
        foundation.settings.onevalet_currency,
        _most(foundation),
        links=answer_links(foundation) is not None,
    )
    foundation.opened.add(Holding, Holding(answers.parts_of))
    foundation.opened.add(SparedCalls, SparedCalls(partial(count_spared, foundation.database)))


def open_services(foundation: OpeningFoundation) -> Mapping[type, ForTurn]:
    """Return the service for chat words."""
    most, links = _most(foundation), answer_links(foundation)

    def of_person(tenant_id: str, _: str) -> HeldAnswers:
        return HeldAnswers(foundation.database, foundation.clock, tenant_id, most, links)

    return {HeldAnswers: of_person}


def open_work(foundation: WorkFoundation) -> Sequence[Repeated]:
    """Return the work of a worker: answers about which nobody decides do not wait for ever."""
    once = partial(end_waits, foundation.database, foundation.clock, foundation.wakeups, answer_links(foundation))
    return [Repeated("held answers", timedelta(minutes=10), once, "held_answers", by_peoples_clock=True)]


def _most(foundation: OpeningFoundation) -> int:
    return foundation.settings.of(CostSettings).onevalet_sms_ask_segments


def answer_links(foundation: OpeningFoundation) -> AnswerLinks | None:
    """Return the links to answers; None without a public address or keys."""
    settings = foundation.settings
    if not settings.public_url or not settings.onevalet_secret_keys:
        return None
    keys = SecretKeys.from_text(*(key.get_secret_value() for key in settings.onevalet_secret_keys))
    return AnswerLinks(foundation.database, settings.public_url, keys)
