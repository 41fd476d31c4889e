# SPDX-License-Identifier: Apache-2.0
"""The run is what it says it is: the Java of these tests is 5.5.0, and both headers are spoken."""

from __future__ import annotations

from .java_client import JavaDriver
from .java_home import JavaHome
from .servers import Cluster

VERSION = "V5_5_0"


def test_the_jars_are_of_the_promised_version(java_home: JavaHome) -> None:
    ours = [jar.name for jar in java_home.lib.glob("rocketmq-*.jar")]
    for part in ("broker", "namesrv", "client", "tools", "store", "remoting"):
        assert f"rocketmq-{part}-5.5.0.jar" in ours


def test_the_driver_runs_the_promised_client(java: JavaDriver, java_binary: JavaDriver) -> None:
    assert java.ask("about")["rocketmq"] == VERSION
    assert java.ask("about")["encoding"] == "JSON"
    assert java_binary.ask("about")["encoding"] == "ROCKETMQ"


def test_the_broker_says_its_version(cluster: Cluster, java: JavaDriver) -> None:
    """Clients of this line decide by it what they may ask, so Eruca says the same."""
    printed = java.mqadmin("brokerStatus", "-n", cluster.nameserver, "-b", cluster.broker)
    line = next(line for line in printed.splitlines() if line.startswith("brokerVersionDesc"))
    assert line.split()[-1] == VERSION
