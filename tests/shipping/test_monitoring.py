"""The dashboard and the alerts ask for metrics that exist, and Prometheus' own tool takes and tests them."""

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families

from core import metrics
from core.db.database import Database
from operations.metrics.backlog import Backlog
from tests.needs import need
from tests.shipping.harness import ROOT, read, run

DEPLOY = ROOT / "deploy" / "prometheus"
_NAME = re.compile(r"\bonevalet_\w+")
_SELECTOR = re.compile(r"\b(onevalet_\w+)\{([^}]*)\}")


def alerts() -> list[dict[str, str]]:
    """Return the rules of the alerts."""
    [group] = yaml.safe_load(read("deploy/prometheus/alerts.yml"))["groups"]
    return list(group["rules"])


def expressions() -> dict[str, str]:
    """Return the expression of each alert and of each panel of the dashboard, by its name."""
    panels = json.loads(read("deploy/grafana/onevalet.json"))["panels"]
    drawn = [(panel["title"], target) for panel in panels for target in panel["targets"]]
    asked = {rule["alert"]: rule["expr"] for rule in alerts()}
    return asked | {f"{title} {target['refId']}": target["expr"] for title, target in drawn}


def sample_names(family: Metric) -> set[str]:
    """Return the names under which a family of metrics is stored."""
    match family.type:
        case "histogram":
            return {f"{family.name}_{suffix}" for suffix in ("bucket", "count", "sum")}
        case "counter":
            return {f"{family.name}_total"}
        case _:
            return {family.name}


@pytest.fixture
async def known(database_url: str) -> set[str]:
    """Return every name that `/metrics` can tell."""
    database = Database(database_url)
    text = (await Backlog(database).text()).decode()
    await database.close()
    families = [*metrics.REGISTRY.collect(), *text_string_to_metric_families(text)]
    return {name for family in families if family.name.startswith("onevalet_") for name in sample_names(family)}


async def test_each_alert_and_panel_asks_for_metrics_that_exist(known: set[str]) -> None:
    missing = {title: names for title, text in expressions().items() if (names := set(_NAME.findall(text)) - known)}
    assert missing == {}


async def test_the_page_has_a_row_for_each_metric(known: set[str]) -> None:
    told = {name.removesuffix("_bucket").removesuffix("_count").removesuffix("_sum") for name in known}
    assert set(_NAME.findall(read("docs/metrics.md"))) == told


def test_selectors_name_labels_that_the_metric_has() -> None:
    wrong = []
    for title, text in expressions().items():
        for name, selector in _SELECTOR.findall(text):
            family = name.removesuffix("_bucket").removesuffix("_count").removesuffix("_total")
            labels = set(_labels(family)) | {"le"}
            wrong += [(title, label) for label in re.findall(r"(\w+)[=!]", selector) if label not in labels]
    assert wrong == []


def test_no_label_can_name_a_person() -> None:
    """The list is short on purpose: look twice before it grows."""
    families = metrics.REGISTRY.collect()
    labels = {label for family in families if family.name.startswith("onevalet_") for label in _labels(family.name)}
    assert labels <= {"route", "code", "kind", "outcome", "state", "cause", "name", "model", "channel", "reason"}


def test_each_alert_has_a_case_that_fires_it_and_one_that_does_not() -> None:
    cases = yaml.safe_load(read("deploy/prometheus/alerts.test.yml"))["tests"]
    told = [(case["alertname"], bool(case["exp_alerts"])) for test in cases for case in test["alert_rule_test"]]
    assert sorted(told) == sorted((rule["alert"], fires) for rule in alerts() for fires in (True, False))


@pytest.mark.parametrize(
    "arguments", [("check", "config", "prometheus.yml"), ("test", "rules", "alerts.test.yml")], ids=["check", "test"]
)
def test_promtool_takes_them(arguments: tuple[str, ...], tmp_path: Path) -> None:
    folder = shutil.copytree(DEPLOY, tmp_path / "prometheus")
    run([need("promtool"), *arguments], folder=folder)


def _labels(family: str) -> tuple[str, ...]:
    """Return the labels of one of our instruments."""
    instruments = [value for value in vars(metrics).values() if hasattr(value, "_labelnames")]
    named = {instrument._name: instrument._labelnames for instrument in instruments}
    return tuple(named.get(family, ("kind", "part")))
