"""The chart of deploy/helm: what Helm makes of it is valid to Kubernetes, confined, and names what exists."""

import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import asyncpg
import jsonschema
import kubernetes_validate  # type: ignore[import-untyped]
import pytest

from core.db.database import Database
from jobs.worker import GRACE
from onevalet.migrating import migrate
from onevalet.servers.postgres import Postgres
from onevalet.settings import Settings
from tests.shipping.chart import NAMESPACE, RELEASE, Manifest, Values, environment, of_kind, pods, render
from tests.shipping.harness import read
from tests.shipping.operators import OPERATORS
from tests.shipping.test_compose import parse_yaml
from tests.shipping.test_deploy_page import block
from tests.shipping.test_documents import commands
from tests.shipping.test_env_example import COMPOSE_ONLY

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("chart")]

VERSIONS = ("1.30", "1.37")
"""Of Kubernetes: the oldest that the chart takes, and the newest that the schemas know."""
HOWS = ("install", "upgrade")
BUCKET: Values = {"settings": {"PUBLIC_URL": "https://valet.example.com", "ONEVALET_FILES": "s3://people/files"}}
LARGE: Values = BUCKET | {
    "image": {"repository": "registry.example.com/onevalet", "digest": "sha256:" + "0" * 64, "pullSecrets": ["pull"]},
    "worker": {"nodeSelector": {"pool": "work"}, "tolerations": [{"key": "work", "operator": "Exists"}]},
    "keda": {"enabled": True},
    "ingress": {"enabled": True, "className": "nginx", "tlsSecret": "valet-tls", "annotations": {"a.example/b": "c"}},
    "metrics": {"enabled": True},
    "valkey": {"storage": "1Gi", "storageClass": "fast"},
    "postgres": {"storageClass": "fast", "image": "registry.example.com/postgresql:18", "durability": "preferred"},
    "networkPolicy": {
        "webFrom": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "ingress"}}}],
        "metricsFrom": [{"podSelector": {"matchLabels": {"app": "prometheus"}}}],
        "egress": [{"ports": [{"port": 11434}], "to": [{"podSelector": {"matchLabels": {"app": "ollama"}}}]}],
    },
}
OUTSIDE: Values = {
    "files": {"claim": "people-files"},
    "postgres": {"cluster": False},
    "valkey": {"enabled": False},
    "keda": {"enabled": True, "min": 1, "max": 1},
    "networkPolicy": {"enabled": False},
}
SHOWN: Values = parse_yaml(block("docs/deploy.md", "yaml", "image:"))
SETS = {"bucket": BUCKET, "large": LARGE, "outside": OUTSIDE, "shown": SHOWN}
REFUSED: dict[str, tuple[Values, str]] = {
    "an unknown value": (BUCKET | {"workers": 3}, "workers"),
    "no files": ({}, "files.claim"),
    "a secret among the settings": (
        {"settings": {"ONEVALET_FILES": "s3://b", "SLACK_BOT_TOKEN": "x"}},
        "SLACK_BOT_TOKEN",
    ),
    "what the chart decides": ({"settings": {"ONEVALET_FILES": "s3://b", "DATABASE_URL": "x"}}, "DATABASE_URL"),
    "an address with a path": ({"settings": {"ONEVALET_FILES": "s3://b", "PUBLIC_URL": "https://v.e/x"}}, "PUBLIC_URL"),
    "no worker": (BUCKET | {"worker": {"replicas": 0}}, "replicas"),
    "KEDA down to none": (BUCKET | {"keda": {"enabled": True, "min": 0}}, "min"),
    "KEDA upside down": (BUCKET | {"keda": {"min": 5, "max": 2}}, "keda.min"),
    "a primary alone that waits": (BUCKET | {"postgres": {"instances": 1}}, "postgres.synchronous"),
    "storage without a unit": (BUCKET | {"postgres": {"storage": "20"}}, "storage"),
    "an ingress to nowhere": ({"files": {"claim": "f"}, "ingress": {"enabled": True}}, "PUBLIC_URL"),
    "a number for text": (BUCKET | {"secret": 7}, "secret"),
    "metrics on the port of web": (BUCKET | {"metrics": {"port": 8080}}, "port"),
}

OF_OWNER = "grant onevalet_app to onevalet"

type Manifests = tuple[Manifest, ...]


@pytest.fixture(scope="module")
def rendered() -> dict[str, Manifests]:
    """Return each set of values as installed, and as an upgrade."""
    renders = {f"{name} {how}": (values, how == "upgrade") for name, values in SETS.items() for how in HOWS}
    made = render(*renders.values())
    assert made.lint == ()
    for said in made.said:
        assert not isinstance(said, str), said
    return {name: said for name, said in zip(renders, made.said, strict=True) if not isinstance(said, str)}


def complaint(manifest: Manifest, version: str) -> str:
    """Return what is wrong with a manifest in a version of Kubernetes, or nothing."""
    try:
        if schema := OPERATORS.get(manifest["apiVersion"]):
            jsonschema.validate(manifest, schema)
        else:
            kubernetes_validate.validate(manifest, version, strict=True)
    except jsonschema.ValidationError as error:
        return f"{manifest['kind']} {manifest['metadata']['name']}: {error.message}"
    return ""


@pytest.mark.parametrize("version", VERSIONS)
def test_kubernetes_takes_every_manifest(rendered: dict[str, Manifests], version: str) -> None:
    every = {str(one): one for manifests in rendered.values() for one in manifests}
    assert [said for one in every.values() if (said := complaint(one, version))] == []


def test_the_kinds_of_an_installation_are_there(rendered: dict[str, Manifests]) -> None:
    kinds = {name: {one["kind"] for one in manifests} for name, manifests in rendered.items()}
    ours = {"ConfigMap", "Deployment", "Job", "PodDisruptionBudget", "Service", "ServiceAccount"}
    assert kinds["outside install"] == ours | {"ScaledObject"}
    assert kinds["bucket install"] == ours | {"Cluster", "NetworkPolicy", "StatefulSet"}
    assert kinds["large upgrade"] == kinds["bucket install"] | {"ScaledObject", "Ingress"}


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [
        ("Deployment", ("spec", "template", "spec", "containers", 0, "readOnlyRootFilesystem"), True),
        ("PodDisruptionBudget", ("spec", "maxUnavailabel"), 1),
        ("NetworkPolicy", ("spec", "policyTypes"), "Ingress"),
        ("Cluster", ("spec", "postgresql", "synchronous", "dataDurability"), "always"),
        ("Cluster", ("spec", "bootstrap", "initdb", "extensions"), []),
        ("ScaledObject", ("spec", "triggers", 0, "metadata", "targetQueryValue"), 16),
        ("ScaledObject", ("spec", "minReplicas"), 1),
    ],
)
def test_a_wrong_manifest_would_be_found(
    rendered: dict[str, Manifests], kind: str, path: tuple[str | int, ...], value: object
) -> None:
    wrong = deepcopy(next(one for one in rendered["large install"] if one["kind"] == kind))
    assert complaint(wrong, VERSIONS[-1]) == ""
    inner: Any = wrong
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    assert complaint(wrong, VERSIONS[-1])


def test_every_variable_is_a_setting(rendered: dict[str, Manifests]) -> None:
    named = {name for one in rendered.values() for pod in pods(one).values() for name in environment(pod)}
    named |= {
        name for one in rendered.values() for config in of_kind(one, "ConfigMap").values() for name in config["data"]
    }
    assert {"DATABASE_URL", "REDIS_URL", "PUBLIC_URL"} <= named
    assert {name.lower() for name in named - COMPOSE_ONLY} - set(Settings.model_fields) == set()


def test_every_command_exists(rendered: dict[str, Manifests]) -> None:
    for manifests in rendered.values():
        for part, pod in pods(manifests).items():
            container = pod["containers"][0]
            probes = [
                container[name]["exec"]["command"]
                for name in container
                if "exec" in str(container[name]) and name.endswith("Probe")
            ]
            for command in [*probes, container.get("command")] if part != "valkey" else ():
                assert command[:3] == ["python", "-m", "onevalet"]
                assert command[3] in commands()
                assert command[3] == part


def test_every_pod_is_confined(rendered: dict[str, Manifests]) -> None:
    for manifests in rendered.values():
        for part, pod in pods(manifests).items():
            assert pod["securityContext"]["runAsNonRoot"] is True
            assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
            assert pod["automountServiceAccountToken"] is pod["enableServiceLinks"] is False
            (container,) = pod["containers"]
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert container["resources"]["limits"]["memory"]
            written = {one["mountPath"] for one in container["volumeMounts"] if not one.get("readOnly")}
            assert written <= {"/tmp", "/home/onevalet/.onevalet/files", "/data"}, part  # noqa: S108


def test_the_user_is_that_of_the_image(rendered: dict[str, Manifests]) -> None:
    uid = re.search(r"useradd --uid (\d+)", read("Dockerfile"))
    assert uid
    ours = [pod for one in rendered.values() for part, pod in pods(one).items() if part != "valkey"]
    assert {pod["securityContext"]["runAsUser"] for pod in ours} == {int(uid[1])}


def test_only_migrate_is_given_the_owners_address(rendered: dict[str, Manifests]) -> None:
    for name, manifests in rendered.items():
        for part, pod in pods(manifests).items():
            owner = "valet-postgres-app" in str(pod) or "'key': 'owner'" in str(pod)
            assert owner is (part == "migrate"), f"{name}: {part}"


def test_migrate_is_a_hook_of_updates_only(
    rendered: dict[str, Manifests],
) -> None:
    for name, manifests in rendered.items():
        (job,) = of_kind(manifests, "Job").values()
        hook = job["metadata"].get("annotations", {}).get("helm.sh/hook")
        assert hook == ("pre-upgrade" if name.endswith("upgrade") else None)
        # What a hook uses must be there before it: of this release there is only what the last one had.
        assert "envFrom" not in job["spec"]["template"]["spec"]["containers"][0]


def test_a_worker_is_given_longer_to_stop_than_it_waits_for_its_turns(rendered: dict[str, Manifests]) -> None:
    worker = pods(rendered["bucket install"])["worker"]
    assert worker["terminationGracePeriodSeconds"] > GRACE.total_seconds() + 10
    assert environment(worker)["ONEVALET_HEALTH_FILE"].startswith("/tmp/")  # noqa: S108


def test_postgres_waits_for_a_standby_and_outlives_the_release(rendered: dict[str, Manifests]) -> None:
    (cluster,) = of_kind(rendered["bucket install"], "Cluster").values()
    assert cluster["spec"]["instances"] == 3
    assert cluster["spec"]["postgresql"]["synchronous"] == {"method": "any", "number": 1, "dataDurability": "required"}
    assert cluster["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}


async def test_what_the_cluster_is_begun_with_lets_migrate_serve_and_count(
    rendered: dict[str, Manifests], tmp_path: Path
) -> None:
    spec = of_kind(rendered["large install"], "Cluster")[f"{RELEASE}-postgres"]["spec"]
    (scaled,) = of_kind(rendered["large install"], "ScaledObject").values()
    postgres = Postgres(tmp_path / "home", fast=True)
    await postgres.start()
    try:
        # As the operator does it: a database of an owner without rights, and the statements as the superuser.
        admin = await asyncpg.connect(postgres.url)
        await admin.execute("create role plain login password 'p'; alter database onevalet owner to plain")
        for statement in spec["bootstrap"]["initdb"]["postInitApplicationSQL"]:
            # Here the superuser has the name that the owner has there.
            await admin.execute("grant onevalet_app to plain" if statement == OF_OWNER else statement)
        assert OF_OWNER in spec["bootstrap"]["initdb"]["postInitApplicationSQL"]
        await admin.execute("alter role onevalet_serving password 's'")
        await admin.close()
        place = postgres.url.rpartition("@")[2]
        await migrate(f"postgresql://plain:p@{place}")
        serving = f"postgresql://{spec['managed']['roles'][0]['name']}:s@{place}"
        database = Database(serving, size=1)
        assert await database.ready()
        await database.close()
        keda = await asyncpg.connect(serving)
        assert await keda.fetchval(scaled["spec"]["triggers"][0]["metadata"]["query"]) == 0
        await keda.close()
    finally:
        await postgres.stop()


def test_keda_counts_what_waits_and_leaves_the_number_of_workers_to_itself(rendered: dict[str, Manifests]) -> None:
    manifests = rendered["large install"]
    (scaled,) = of_kind(manifests, "ScaledObject").values()
    worker = of_kind(manifests, "Deployment")[scaled["spec"]["scaleTargetRef"]["name"]]
    assert "replicas" not in worker["spec"]
    (trigger,) = scaled["spec"]["triggers"]
    assert trigger["metadata"]["host"] == f"{RELEASE}-postgres-rw.{NAMESPACE}.svc"
    assert trigger["metadata"]["passwordFromEnv"] in environment(pods(manifests)["worker"])
    (outside,) = of_kind(rendered["outside install"], "ScaledObject").values()
    assert outside["spec"]["triggers"][0]["metadata"]["connectionFromEnv"] == "DATABASE_URL"


def test_budgets_services_and_policies_select_pods_that_exist(rendered: dict[str, Manifests]) -> None:
    for manifests in rendered.values():
        labels = [
            one["spec"]["template"]["metadata"]["labels"] for one in manifests if "template" in one.get("spec", {})
        ]
        for kind, path in (
            ("PodDisruptionBudget", "selector"),
            ("NetworkPolicy", "podSelector"),
            ("Service", "selector"),
        ):
            for name, manifest in of_kind(manifests, kind).items():
                selector = manifest["spec"][path]
                wanted = selector.get("matchLabels", selector)
                if "cnpg.io/cluster" in wanted:
                    assert wanted["cnpg.io/cluster"] in of_kind(manifests, "Cluster")
                else:
                    assert any(wanted.items() <= one.items() for one in labels), f"{kind} {name}"


def test_workers_reach_no_private_address_but_what_is_named(rendered: dict[str, Manifests]) -> None:
    policy = of_kind(rendered["large install"], "NetworkPolicy")[RELEASE]
    open_to = [peer["ipBlock"] for rule in policy["spec"]["egress"] for peer in rule.get("to", ()) if "ipBlock" in peer]
    assert {"10.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"} <= set(open_to[0]["except"])
    assert LARGE["networkPolicy"]["egress"][0] in policy["spec"]["egress"]


def test_valkey_is_the_one_of_compose(rendered: dict[str, Manifests]) -> None:
    valkey = pods(rendered["bucket install"])["valkey"]["containers"][0]
    assert valkey["image"] == parse_yaml(read("docker-compose.yml"))["services"]["valkey"]["image"]


def test_bad_values_are_refused_by_name() -> None:
    made = render(*((values, False) for values, _ in REFUSED.values()))
    for (what, (_, named)), said in zip(REFUSED.items(), made.said, strict=True):
        assert isinstance(said, str), f"{what} was taken"
        assert named in said, f"{what}: {said}"
