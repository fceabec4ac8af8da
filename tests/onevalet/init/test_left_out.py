"""`init` neither asks for nor writes settings of abilities that are left out."""

import pytest

from onevalet.init import local_servers, run


def test_a_model_is_asked_for_only_if_its_ability_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [title for title, *_ in run.further_models()] == ["an embedding model", "a model for voice notes"]
    monkeypatch.setattr(run, "is_setting", lambda name: not name.startswith("ONEVALET_TRANSCRIPTION_"))
    assert [title for title, *_ in run.further_models()] == ["an embedding model"]


def test_a_local_model_sets_nothing_of_what_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = local_servers.values_for(8192)
    monkeypatch.setattr(local_servers, "is_setting", lambda name: name.startswith("ONEVALET_LOOP_"))
    assert whole.keys() - local_servers.values_for(8192).keys() == {"ONEVALET_MEMORY"}
