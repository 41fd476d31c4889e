# SPDX-License-Identifier: Apache-2.0
"""The real Java system as fixtures.

Every test that takes `cluster` runs twice: against Java's own servers, which proves the test, and
against Eruca's. Servers and JVMs live for the whole session; a test keeps to itself by topics and
groups of its own.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest

from .java_client import JavaClient, JavaDriver
from .java_home import JavaHome, Missing, prepared
from .servers import Cluster, Servers, eruca_command, until

HERE = Path(__file__).parent
KINDS = ["java", "eruca"]
# Java looks every 20 s whether the queues of a group should move. Tests of that very thing keep it.
QUICK_REBALANCE = {
    "rocketmq.client.rebalance.waitInterval": "1000",
    "rocketmq.client.rebalance.minInterval": "100",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.interop)


def _not_here(reason: str) -> NoReturn:
    """Loudly: a skip that nobody sees in CI would be a test that nobody runs."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(f"INTEROPERABILITY NOT TESTED: {reason}")


@pytest.fixture(scope="session")
def java_home() -> JavaHome:
    try:
        return prepared()
    except Missing as missing:
        _not_here(str(missing))


@pytest.fixture(scope="session")
def servers(java_home: JavaHome, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    servers = Servers(java_home, tmp_path_factory.mktemp("servers"))
    yield servers
    servers.close()


def require(kind: str) -> None:
    """Skip, or fail in CI, when there is no Eruca to run."""
    if "eruca" in kind and eruca_command() is None:
        _not_here("no eruca command: run `make build`, or name it in $ERUCA")


@pytest.fixture(scope="session", params=KINDS)
def cluster(request: pytest.FixtureRequest, servers: Servers) -> Iterator[Cluster]:
    require(request.param)
    cluster = servers.up(request.param)
    yield cluster
    cluster.stop()


@pytest.fixture(scope="session")
def new_driver(
    java_home: JavaHome, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., JavaDriver]]:
    """Another JVM with clients, for a member to be killed or for system properties."""
    drivers: list[JavaDriver] = []

    def start(properties: Mapping[str, str] = QUICK_REBALANCE) -> JavaDriver:
        drivers.append(JavaDriver(java_home, tmp_path_factory.mktemp("driver"), properties))
        return drivers[-1]

    yield start
    for driver in drivers:
        driver.close()


@pytest.fixture(scope="session")
def driver(new_driver: Callable[..., JavaDriver]) -> JavaDriver:
    """The JVM most tests share; they take `java`, which cleans up."""
    return new_driver()


@pytest.fixture(scope="session")
def driver_binary(new_driver: Callable[..., JavaDriver]) -> JavaDriver:
    return new_driver(QUICK_REBALANCE | {"rocketmq.serialize.type": "ROCKETMQ"})


@pytest.fixture
def java(driver: JavaDriver) -> Iterator[JavaDriver]:
    """The stock clients; those a test leaves open are closed behind it."""
    yield driver
    driver.close_clients()


@pytest.fixture
def java_binary(driver_binary: JavaDriver) -> Iterator[JavaDriver]:
    """The same with binary headers."""
    yield driver_binary
    driver_binary.close_clients()


@dataclass(slots=True)
class Names:
    """Topics and groups of one test; the same on every run, so that outputs can be compared."""

    stem: str
    cluster: Cluster
    admin: JavaClient
    _numbers: Iterator[int]

    def group(self) -> str:
        return f"G{next(self._numbers)}-{self.stem}"

    def new_topic(self) -> str:
        """A name nobody has used."""
        return f"T{next(self._numbers)}-{self.stem}"

    def topic(self, queues: int = 4, perm: int = 6) -> str:
        """A topic that exists, and that the name server knows."""
        name = self.new_topic()
        create_topic(self.cluster, self.admin, name, queues, perm)
        return name


def create_topic(
    cluster: Cluster, admin: JavaClient, name: str, queues: int = 4, perm: int = 6
) -> None:
    config = {
        "topicName": name,
        "readQueueNums": queues,
        "writeQueueNums": queues,
        "perm": perm,
    }
    admin.call("createAndUpdateTopicConfig", cluster.broker, config)
    until(lambda: cluster.routed_as(name, queues, perm), f"{name} is routed")


def _params(request: pytest.FixtureRequest) -> dict[str, object]:
    spec = getattr(request.node, "callspec", None)
    return {} if spec is None else dict(spec.params)


@pytest.fixture
def names(request: pytest.FixtureRequest, cluster: Cluster, java: JavaDriver) -> Names:
    # Of the parameters, all but the kind of cluster.
    given = [str(value) for key, value in _params(request).items() if key != "cluster"]
    words = "-".join([request.node.originalname.removeprefix("test_"), *given])
    stem = re.sub(r"[^a-zA-Z0-9]+", "-", words)[:60]
    return Names(stem, cluster, java.admin(cluster), itertools.count(1))
