"""A stop that waits for running requests without end, so that only those that know of it let it end."""

from typing import Any

import pytest

from channels.http.deadlines import DeadlineRunner


def wait_for_requests_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a web process wait an hour for running requests, in place of ten seconds."""

    def patient(*arguments: Any, shutdown_timeout: float) -> DeadlineRunner:
        assert shutdown_timeout == 10.0
        return DeadlineRunner(*arguments, shutdown_timeout=3600.0)

    monkeypatch.setattr("channels.http.app.DeadlineRunner", patient)
