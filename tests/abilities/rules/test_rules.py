"""Rules of a file: what covers a call, what a wrong file says, and that a rule which cannot be evaluated denies."""

import asyncio
from pathlib import Path

import pytest

from abilities.rules.rules import RuleBook
from abilities.rules.rules_file import read_rules
from core.db.database import Database
from core.errors import ConfigError
from core.hooks.hooks import Decision, Hook, HookContext, Hooks, PlannedCall, Rule, Verdict
from core.json_types import JsonObject
from core.loop.config import ReactLoopConfig
from core.tools.storage import Storage
from core.tools.tool import tool
from onevalet.settings import Settings
from onevalet.wiring.loop import hooks_of_abilities
from tests.core.builders import FakeModel, run_loop, says, wants
from tests.eventually import eventually
from tests.shipping.harness import ROOT

HEAD = '[[rules]]\nname = "r"\n'


def book(tmp_path: Path, text: str) -> RuleBook:
    path = tmp_path / "rules.toml"
    path.write_text(text)
    return read_rules(path)


async def verdict(rules: RuleBook, name: str, arguments: JsonObject, channel: str = "terminal") -> Verdict:
    return await Hooks([rules]).evaluate(HookContext("turn", "tenant", channel), PlannedCall("c", name, arguments))


async def decided(tmp_path: Path, text: str, arguments: JsonObject, name: str = "pay") -> str:
    return (await verdict(book(tmp_path, text), name, arguments)).decision.value


@pytest.mark.parametrize(
    ("when", "arguments", "expected"),
    [
        ("", {}, "deny"),
        ('when = [{argument = "amount", above = 100}]', {"amount": 100}, "allow"),
        ('when = [{argument = "amount", above = 100}]', {"amount": 100.01}, "deny"),
        ('when = [{argument = "amount", above = 100}]', {"amount": "$1,200.50"}, "deny"),
        ('when = [{argument = "amount", above = 100}]', {"amount": "1e3"}, "deny"),
        ('when = [{argument = "amount", above = 100}]', {"amount": "$99.50"}, "allow"),
        ('when = [{argument = "amount", above = 100}]', {"amount": "5 or 6"}, "deny"),
        ('when = [{argument = "amount", above = 100}]', {"sum": 1000}, "allow"),
        ('when = [{argument = "amount", above = 100}]', {"amount": "quite a lot"}, "deny"),
        ('when = [{argument = "amount", below = 0}]', {"amount": -5}, "deny"),
        ('when = [{argument = "items.*.price", above = 9}]', {"items": [{"price": 1}, {"price": 10}]}, "deny"),
        ('when = [{argument = "items.*.price", above = 9}]', {"items": [{"price": 1}, {"cost": 10}]}, "allow"),
        ('when = [{argument = "to", equals = ["Bob"]}]', {"to": " bob "}, "deny"),
        ('when = [{argument = "to", equals = ["Bob"]}]', {"to": ["ann", "bob"]}, "deny"),
        ('when = [{argument = "to", equals = ["Bob"]}]', {"to": "Bobby"}, "allow"),
        ('when = [{argument = "to.name", equals = ["Bob"]}]', {"to": {"name": "Bob"}}, "deny"),
        ('when = [{argument = "to.name", equals = ["Bob"]}]', {"to": {"nick": "Bob"}}, "allow"),
        ('when = [{argument = "to.*.name", equals = ["Bob"]}]', {"to": {"first": {"name": "Bob"}}}, "deny"),
        ('when = [{argument = "to.*.name", equals = ["Bob"]}]', {"to": {"name": "Bob"}}, "allow"),
        ('when = [{argument = "*", matches = "sk-[a-z]+"}]', {"a": {"b": ["x", "my SK-abc"]}}, "deny"),
        ('when = [{argument = "a", above = 1, below = 3}]', {"a": [0, 4]}, "allow"),
        ('when = [{argument = "a", above = 1}, {argument = "b", above = 1}]', {"a": 2, "b": 1}, "allow"),
        ('when = [{argument = "a", above = 1}, {argument = "b", above = 1}]', {"a": 2, "b": 2}, "deny"),
    ],
)
async def test_a_rule_covers_a_call_when_all_its_conditions_hold(
    tmp_path: Path, when: str, arguments: JsonObject, expected: str
) -> None:
    assert await decided(tmp_path, f'{HEAD}decision = "deny"\n{when}', arguments) == expected


@pytest.mark.whole("it works until its limit is reached")
async def test_a_rule_whose_expression_runs_for_hours_denies_and_holds_nobody_up(tmp_path: Path) -> None:
    when = r'when = [{argument = "a", matches = "(a|aa)+$"}]'
    deciding = asyncio.ensure_future(decided(tmp_path, f'{HEAD}decision = "allow"\n{when}', {"a": "a" * 90 + "!"}))
    looks = 0

    def decided_now() -> bool:
        nonlocal looks
        looks += 1
        return deciding.done()

    await eventually(decided_now, "the decision")
    assert (await deciding, looks > 5) == ("deny", True)


async def test_a_rule_is_about_the_tools_and_channels_it_names(tmp_path: Path) -> None:
    rules = book(tmp_path, HEAD + 'decision = "deny"\ntools = ["Send_*"]\nchannels = ["sms"]\nreason = "Not here."')
    assert await verdict(rules, "send_email", {}, "sms") == Verdict(Decision.DENY, "Not here.")
    assert (await verdict(rules, "send_email", {}, "slack")).decision is Decision.ALLOW
    assert (await verdict(rules, "resend", {}, "sms")).decision is Decision.ALLOW


async def test_with_deny_as_the_default_only_what_is_allowed_runs(tmp_path: Path) -> None:
    text = 'default = "deny"\n' + HEAD + 'tools = ["look"]\ndecision = "allow"'
    assert await decided(tmp_path, text, {}, "look") == "allow"
    assert await decided(tmp_path, text, {}, "send") == "deny"


async def test_the_highest_risk_of_the_deciding_rules_counts(tmp_path: Path) -> None:
    text = HEAD + 'decision = "approve"\n[[rules]]\nname = "s"\ndecision = "approve"\nrisk = "high"'
    assert (await verdict(book(tmp_path, text), "x", {})).risk == "high"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("rules = 3", "rules.toml: rules: "),
        ("[[rules]", "is no TOML"),
        (HEAD, "rule 'r': decision: Field required."),
        (HEAD + 'decision = "maybe"', "rule 'r': decision: Input should be 'allow', 'deny' or 'approve'"),
        (HEAD + 'decision = "deny"\ntool = ["x"]', "rule 'r': tool: Extra inputs are not permitted."),
        (HEAD + 'decision = "deny"\nwhen = [{argument = "a"}]', "needs one of equals, matches"),
        (HEAD + 'decision = "deny"\nwhen = [{argument = "a", matches = "("}]', "is no regular expression"),
        (2 * (HEAD + 'decision = "deny"\n'), "has two rules named 'r'"),
    ],
)
def test_a_file_that_is_wrong_is_refused_in_a_sentence_that_names_the_rule(
    tmp_path: Path, text: str, sentence: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        book(tmp_path, text)
    assert sentence in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_there_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^ONEVALET_RULES names nowhere.toml, which cannot be read\.$"):
        read_rules(Path("nowhere.toml"))


async def test_the_example_ships_disabled_and_each_rule_works_once_enabled(tmp_path: Path) -> None:
    text = (ROOT / "rules.example.toml").read_text()
    assert book(tmp_path, text).rules == ()
    rules = book(tmp_path, text.replace("on = false", "on = true"))
    assert len(rules.rules) == text.count("[[rules]]")
    expected: dict[str, tuple[JsonObject, str, str]] = {
        "pay_bill": ({}, "approve", "high"),
        "book": ({"amount": 501}, "deny", ""),
        "set_password": ({}, "approve", "high"),
        "add_note": ({"text": "key sk-abcdefghijklmnopqrst"}, "deny", ""),
        "delete_note": ({}, "approve", ""),
        "now": ({}, "allow", ""),
    }
    for name, (arguments, decision, risk) in expected.items():
        evaluated = await verdict(rules, name, arguments)
        assert (evaluated.decision, evaluated.risk) == (decision, risk), name


@tool
async def send_mail(to: list[str], fail: bool = False) -> str:
    """Send mail."""
    if fail:
        raise RuntimeError("no")
    return "sent"


async def test_a_denied_call_does_not_run_and_the_model_is_told_why(tmp_path: Path) -> None:
    rules = book(tmp_path, HEAD + 'decision = "deny"\nreason = "No mail today."')
    result, model = await run_loop([wants(("send_mail", {"to": ["a"]})), says("No.")], [send_mail], hooks=[rules])
    assert model.told() == ["Not run: No mail today."]
    assert not result.tool_calls[0].success


async def test_a_call_needing_approval_is_refused_where_approvals_are_missing(tmp_path: Path) -> None:
    rules = book(tmp_path, HEAD + 'decision = "approve"')
    _, model = await run_loop([wants(("send_mail", {"to": ["a"]})), says("I may not.")], [send_mail], hooks=[rules])
    assert model.told()[0].startswith("Not run: this needs an approval")


async def test_first_time_holds_until_a_call_ran_with_the_value_for_this_person(
    tmp_path: Path, database_url: str
) -> None:
    database = Database(database_url)
    for tenant in ("ann", "bob"):
        async with database.tenant(tenant) as connection:
            await connection.execute("insert into tenants (tenant_id, name) values ($1, '')", tenant)
    path = tmp_path / "rules.toml"
    path.write_text(HEAD + 'decision = "deny"\nwhen = [{argument = "to", first_time = true}]')
    rules = read_rules(path, Storage(database))

    async def asked(tenant: str, *to: str) -> Decision:
        call = PlannedCall("c", "send_mail", {"to": list(to)})
        return (await Hooks([rules]).evaluate(HookContext("turn", tenant, "sms"), call)).decision

    assert await asked("ann", "x@y.z") is Decision.DENY
    assert await asked("ann", "x@y.z") is Decision.DENY
    call = PlannedCall("c", "send_mail", {"to": ["X@y.z"]})
    assert await rules.post_acting(HookContext("turn", "ann", "sms"), call, "sent") == "sent"
    assert await asked("ann", "x@y.z") is Decision.ALLOW
    assert await asked("ann", "x@y.z", "other@y.z") is Decision.DENY
    assert await asked("bob", "x@y.z") is Decision.DENY
    await database.close()


async def test_a_rule_about_first_times_denies_where_nothing_is_kept(tmp_path: Path) -> None:
    text = HEAD + 'decision = "approve"\nwhen = [{argument = "to", first_time = true}]'
    assert await decided(tmp_path, text, {"to": "x"}) == "deny"


def hooks(**given: object) -> list[Hook]:
    settings = Settings(_env_file=None, **given)  # type: ignore[arg-type]
    found = hooks_of_abilities(settings, ReactLoopConfig(), FakeModel([]))
    return [hook for hook in found if isinstance(hook, Rule)]


def test_the_rules_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text('[[rules]]\nname = "a"\ndecision = "deny"')
    [book] = hooks(onevalet_rules=path)
    assert isinstance(book, RuleBook)
    assert [rule.name for rule in book.rules] == ["a"]


def test_without_a_rules_file_there_are_no_rules_and_a_missing_one_fails() -> None:
    assert hooks() == []
    with pytest.raises(ConfigError, match=r"ONEVALET_RULES names nowhere\.toml"):
        hooks(onevalet_rules="nowhere.toml")
