"""What the failover run stands on, without a cluster: its configuration, its hosts' rights, its count of seconds."""

import os
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from core.errors import ConfigError
from tests.faults.failover.cluster import Cluster, Node, configure
from tests.faults.failover.run import Probe
from tests.namespaces import Host, hosts


def node(folder: Path, number: int) -> Node:
    """One node that does not run."""
    made = folder / str(number)
    made.mkdir()
    return Node(number, Host(f"n{number}", f"198.18.7.{10 + number}", f"link{number}"), made, None)


def test_the_shipped_configuration_of_patroni_is_what_the_run_uses(tmp_path: Path) -> None:
    nodes = [node(tmp_path, number) for number in (1, 2, 3)]
    configure(nodes[1], nodes, "secret")
    known = yaml.safe_load((tmp_path / "2" / "patroni.yml").read_text())
    assert known["name"] == "n2"
    assert known["etcd3"]["hosts"] == "198.18.7.11:2379,198.18.7.12:2379,198.18.7.13:2379"
    assert known["postgresql"]["listen"] == known["postgresql"]["connect_address"] == "198.18.7.12:5432"
    assert known["bootstrap"]["dcs"]["synchronous_mode"] is True
    dcs = known["bootstrap"]["dcs"]
    assert dcs["loop_wait"] + 2 * dcs["retry_timeout"] <= dcs["ttl"]  # as Patroni's documents ask
    assert Cluster(nodes, "secret").url().endswith("/onevalet?sslmode=disable&target_session_attrs=primary")


def test_hosts_need_root_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(ConfigError, match="need root"), hosts(1):
        pass


def test_seconds_away_are_those_before_each_answer_that_was_not_200() -> None:
    probe = Probe("", [(10.0, 200), (11.0, 503), (13.5, 503), (14.0, 200), (20.0, 503)])
    assert probe.away(0.0, 19.0) == 3.5
