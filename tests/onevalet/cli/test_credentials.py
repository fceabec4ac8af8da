"""`credentials` and `keys rotate` as an operator runs them, in processes of their own."""

import base64
import json
import os

import pytest

from tests.onevalet.cli.harness import Operator, add_people

CANARY = "canary-31c7"
TOKEN = json.dumps({"token": CANARY})

pytestmark = pytest.mark.xdist_group("processes")


@pytest.mark.slow
async def test_credentials_are_set_listed_rotated_and_deleted_and_never_shown(
    operator: Operator, database_url: str
) -> None:
    shown = ""
    await add_people(database_url, "tn_ann")
    code, out, errors = await operator.run("credentials", "set", "google", "--account", "work", stdin=TOKEN)
    assert (code, out, errors) == (0, "Kept: google, account work, of tn_ann.\n", "")
    code, out, errors = await operator.run("credentials", "list", "--json", "--tenant", "tn_ann")
    shown += out + errors
    assert code == 0, errors
    [listed] = json.loads(out)
    assert (code, listed["service"], listed["account_name"]) == (0, "google", "work")
    old = operator.environment["ONEVALET_SECRET_KEYS"]
    new = base64.b64encode(os.urandom(32)).decode()
    code, out, errors = await operator.run("keys", "rotate", ONEVALET_SECRET_KEYS=new)
    assert code == 1
    assert "1 do not open" in out
    code, out, errors = await operator.run("keys", "rotate", "--json", ONEVALET_SECRET_KEYS=f"{new},{old}")
    shown += out + errors
    rotated = json.loads(out)
    assert (code, rotated["rewrapped"], rotated["unopened"]) == (0, 1, 0)
    operator.environment["ONEVALET_SECRET_KEYS"] = new
    code, out, errors = await operator.run("credentials", "list", "google")
    shown += out + errors
    assert (code, "work" in out) == (0, True)
    code, out, errors = await operator.run("credentials", "delete", "google", "--account", "work")
    assert (code, out) == (0, "Forgotten: google, account work, of tn_ann.\n")
    code, out, errors = await operator.run("credentials", "delete", "google", "--account", "work")
    assert (code, errors) == (2, "tn_ann has no account work of google.\n")
    for secret in (CANARY, old, new):
        assert secret not in shown


@pytest.mark.parametrize(
    "stdin",
    ["", CANARY, f'["{CANARY}"]', f'{{"token": "{CANARY}"', "[" * 100_000],
    ids=["none", "words", "list", "cut", "deep"],
)
async def test_what_is_no_json_object_is_one_sentence_that_does_not_repeat_it(
    operator: Operator, database_url: str, stdin: str
) -> None:
    await add_people(database_url, "tn_ann")
    code, out, errors = await operator.run("credentials", "set", "google", stdin=stdin)
    assert (code, out) == (2, "")
    assert errors.startswith("Standard input must hold the credentials as one JSON object")
    assert errors.count("\n") == 1
    assert CANARY not in errors


async def test_whose_they_are_must_be_said_unless_there_is_one_person(operator: Operator, database_url: str) -> None:
    code, _, errors = await operator.run("credentials", "set", "google", stdin=TOKEN)
    assert (code, errors) == (2, "Nobody is here yet: credentials belong to a person who has written.\n")
    await add_people(database_url, "tn_ann", "tn_bob")
    code, _, errors = await operator.run("credentials", "set", "google", stdin=TOKEN)
    assert (code, errors) == (2, "There are several people here: say whose with --tenant.\n")
    code, _, errors = await operator.run("credentials", "set", "google", "--tenant", "tn_carl", stdin=TOKEN)
    assert (code, errors) == (2, "There is no person tn_carl: `people list` names everybody.\n")
    code, out, _ = await operator.run("credentials", "set", "google", "--tenant", "tn_bob", stdin=TOKEN)
    assert code == 0
    code, out, _ = await operator.run("credentials", "list", "--tenant", "tn_ann")
    assert (code, out) == (0, "tn_ann has connected nothing.\n")


@pytest.mark.parametrize("command", ["web", "worker"])
async def test_web_and_worker_refuse_to_start_without_a_secret_key(operator: Operator, command: str) -> None:
    code, _, errors = await operator.run(command, ONEVALET_SECRET_KEYS="", ONEVALET_MODEL="openai/scripted")
    assert code == 2
    assert errors.startswith("ONEVALET_SECRET_KEYS is not set: make a key with")
    assert errors.count("\n") == 1


@pytest.mark.parametrize("command", [("web",), ("worker",), ("keys", "rotate"), ("doctor",)])
async def test_a_wrong_secret_key_is_one_sentence_and_exit_code_2(operator: Operator, command: tuple[str, ...]) -> None:
    code, _, errors = await operator.run(*command, ONEVALET_SECRET_KEYS="c2VjcmV0LWNhbmFyeQ==")
    assert code == 2
    assert errors.startswith("ONEVALET_SECRET_KEYS cannot be used: each key must be base64 of 32 bytes")
    assert errors.count("\n") == 1
    assert "c2VjcmV0" not in errors
