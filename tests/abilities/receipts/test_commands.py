"""`receipts …`, `doctor` and `trace`, as an operator and a third party run them."""

import base64
import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.abilities.receipts.test_pages import act
from tests.core.harness import Store
from tests.onevalet.cli.conftest import operator as operator
from tests.onevalet.cli.harness import Operator

pytestmark = pytest.mark.xdist_group("processes")
ANN = "+15550000001"


async def exported(operator: Operator, store: Store) -> Path:
    """Return a file of what was done for Ann."""
    await act(store, ANN, "Rang.", "Rang again.")
    file = operator.folder / "receipts.jsonl"
    code, out, errors = await operator.run("receipts", "export", str(file), "--period", f"{datetime.now(UTC):%Y-%m}")
    assert (code, errors) == (0, ""), out
    assert oct(file.stat().st_mode & 0o777) == "0o600"
    return file


async def test_a_file_is_checked_without_database_settings_or_keys(operator: Operator, store: Store) -> None:
    file = await exported(operator, store)
    [first, *_] = (await operator.run("receipts", "key"))[1].splitlines()
    key = first.split()[0]
    apart = {"DATABASE_URL": "", "REDIS_URL": "", "ONEVALET_SECRET_KEYS": ""}
    code, out, errors = await operator.run("receipts", "verify", str(file), **apart)
    assert (code, errors) == (0, "")
    assert "Good: 2 receipts" in out
    assert f"Key: {key}" in out
    assert "compare it" in out
    code, out, _ = await operator.run("receipts", "verify", str(file), "--key", key.upper(), "--json", **apart)
    assert (code, json.loads(out)["good"], json.loads(out)["receipts"]) == (0, True, 2)
    code, out, errors = await operator.run("receipts", "verify", str(file), "--key", "0000", **apart)
    assert (code, out, errors) == (1, "", f"Another key signed the file: {key}.\n")


async def test_a_changed_file_fails_with_the_line(operator: Operator, store: Store) -> None:
    file = await exported(operator, store)
    file.write_bytes(file.read_bytes().replace(b"Rang again.", b"Rang never."))
    code, out, errors = await operator.run("receipts", "verify", str(file))
    assert (code, out) == (1, "")
    assert errors == "The end does not fit the receipts before it: one was changed or removed.\n"
    code, out, _ = await operator.run("receipts", "verify", str(file), "--json")
    assert (code, json.loads(out)["good"]) == (1, False)


async def test_the_key_changes_with_the_secret_key_and_old_files_stay_known(operator: Operator, store: Store) -> None:
    file, old = await exported(operator, store), operator.environment["ONEVALET_SECRET_KEYS"]
    new = base64.b64encode(os.urandom(32)).decode()
    keys = json.loads((await operator.run("receipts", "key", "--json", ONEVALET_SECRET_KEYS=f"{new},{old}"))[1])
    assert len({key["fingerprint"] for key in keys}) == 2
    assert (await operator.run("receipts", "verify", str(file), "--key", keys[1]["fingerprint"]))[0] == 0
    assert (await operator.run("receipts", "verify", str(file), "--key", keys[0]["fingerprint"]))[0] == 1
    _, told, _ = await operator.run("doctor", ONEVALET_SECRET_KEYS=f"{new},{old}")
    assert f"signed by the key {keys[0]['fingerprint']}" in told


async def test_no_file_is_overwritten_and_wrong_words_are_told(operator: Operator, store: Store) -> None:
    file = await exported(operator, store)
    before = file.read_bytes()
    code, _, errors = await operator.run("receipts", "export", str(file))
    assert (code, errors) == (2, f"The file {file} cannot be written: File exists.\n")
    assert file.read_bytes() == before
    code, _, errors = await operator.run("receipts", "export", "other", "--period", "whenever")
    assert code == 2
    assert "not as whenever" in errors
    code, _, errors = await operator.run("receipts", "verify", "nowhere")
    assert (code, errors) == (2, "The file nowhere cannot be read: No such file or directory.\n")


async def test_trace_names_the_receipts_of_a_turn(operator: Operator, store: Store) -> None:
    turn = await act(store, ANN, "Rang.")
    number = await store.one("select receipt_number($1, '', 0, 1)", turn)
    _, told, _ = await operator.run("trace", turn)
    (line,) = [line for line in told.splitlines() if "RECEIPT" in line]
    assert f"number={number}" in line
    assert "name=ring_bell" in line
