"""The chart of deploy/helm, rendered by Helm's own library in a process of its own: no test has Go's runtime in it."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import pytest

from tests.shipping.harness import ROOT

CHART = ROOT / "deploy" / "helm" / "onevalet"
RELEASE, NAMESPACE = "valet", "people"

type Values = dict[str, Any]
type Manifest = dict[str, Any]

_RENDER = """
import json, sys
import helm_python
asked = json.load(sys.stdin)
said = []
with helm_python.Chart.load(asked["chart"]) as chart:
    for values, upgrade in asked["renders"]:
        try:
            said.append(chart.render(values, name=asked["name"], namespace=asked["namespace"],
                                     is_install=not upgrade, is_upgrade=upgrade))
        except helm_python.HelmError as error:
            said.append(str(error))
lint = helm_python.lint(asked["chart"], asked["renders"][0][0], strict=True)
json.dump({"said": said, "lint": lint}, sys.stdout)
"""


@dataclass(frozen=True, slots=True)
class Rendered:
    """What Helm made of each set of values: manifests, or what it says against them; and what it says of the chart."""

    said: tuple[tuple[Manifest, ...] | str, ...]
    lint: tuple[str, ...]


def render(*renders: tuple[Values, bool]) -> Rendered:
    """Render the chart with each set of values; true: as an upgrade. Skip the test where Helm's library is missing."""
    if find_spec("helm_python") is None:
        reason = "helm-python-sdk has no wheel here"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    asked = {"chart": str(CHART), "name": RELEASE, "namespace": NAMESPACE, "renders": renders}
    command = [sys.executable, "-c", _RENDER]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    said = tuple(one if isinstance(one, str) else _manifests(one) for one in told["said"])
    complaints = [message for message in told["lint"]["messages"] if message["severity"] >= 2]
    return Rendered(said, tuple(str(message) for message in complaints))


def _manifests(files: dict[str, str]) -> tuple[Manifest, ...]:
    import yaml  # type: ignore[import-untyped]

    texts = [text for name, text in sorted(files.items()) if name.endswith(".yaml")]
    return tuple(manifest for text in texts for manifest in yaml.load_all(text, Loader=_strict_loader()) if manifest)


def _strict_loader() -> Any:
    """Return a loader that refuses a key that stands twice, which Kubernetes would drop without a word."""
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            keys = [self.construct_object(key, deep) for key, _ in node.value]
            assert len(keys) == len(set(keys)), f"a key stands twice: {keys}"
            return super().construct_mapping(node, deep)

    return Loader


def pods(manifests: tuple[Manifest, ...]) -> dict[str, Manifest]:
    """Return the pod that each Deployment, StatefulSet and Job makes, by the name of its part."""
    makers = [one for one in manifests if one["kind"] in ("Deployment", "StatefulSet", "Job")]
    templates = [one["spec"]["template"] for one in makers]
    return {one["metadata"]["labels"]["app.kubernetes.io/component"]: one["spec"] for one in templates}


def environment(pod: Manifest) -> dict[str, Any]:
    """Return the variables of a pod's only container: a text, or where it is from."""
    (container,) = pod["containers"]
    return {one["name"]: one.get("value", one.get("valueFrom")) for one in container.get("env", ())}


def of_kind(manifests: tuple[Manifest, ...], kind: str) -> dict[str, Manifest]:
    """Return the manifests of a kind, by name."""
    return {one["metadata"]["name"]: one for one in manifests if one["kind"] == kind}
