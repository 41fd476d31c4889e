# SPDX-License-Identifier: Apache-2.0
"""A name server of one kind under a broker of the other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .conftest import KINDS, create_topic, require
from .java_client import JavaDriver
from .servers import Cluster, Servers, until

PAIRS = [(nameserver, broker) for nameserver in KINDS for broker in KINDS]


@pytest.fixture(
    scope="module",
    params=PAIRS,
    ids=[f"{broker}-under-{nameserver}" for nameserver, broker in PAIRS],
)
def mixed(request: pytest.FixtureRequest, servers: Servers) -> Iterator[Cluster]:
    for kind in request.param:
        require(kind)
    cluster = servers.mixed(*request.param)
    yield cluster
    cluster.stop()


def test_messages_flow(mixed: Cluster, java: JavaDriver) -> None:
    admin = java.admin(mixed)
    create_topic(mixed, admin, "T-mixed", queues=4)
    consumer = java.push_consumer(mixed, "G-mixed", "T-mixed", "TagA")
    sender = java.sender(mixed)
    sender.send_many("T-mixed", [b"m%d" % number for number in range(50)], tag="TagA")
    assert len(consumer.wait(50)) == 50
    sender.send("T-made-on-the-way", b"x")
    until(lambda: mixed.route("T-made-on-the-way"), "a topic made by a send is routed")


def test_the_route_follows_the_topic(mixed: Cluster, java: JavaDriver) -> None:
    admin = java.admin(mixed)
    create_topic(mixed, admin, "T-changed", queues=2)

    def queues() -> int:
        route = admin.call("examineTopicRouteInfo", "T-changed")
        return int(route["queueDatas"][0]["writeQueueNums"])

    until(lambda: queues() == 2, "two queues")
    create_topic(mixed, admin, "T-changed", queues=6)
    until(lambda: queues() == 6, "six queues")
    java.mqadmin("deleteTopic", "-n", mixed.nameserver, "-c", mixed.cluster_name, "-t", "T-changed")
    until(lambda: not mixed.route("T-changed"), "the topic is gone")


def test_the_cluster_is_listed(mixed: Cluster, java: JavaDriver) -> None:
    printed = java.mqadmin("clusterList", "-n", mixed.nameserver)
    row = printed.splitlines()[1].split()
    assert row[:5] == [mixed.cluster_name, mixed.broker_name, "0", mixed.broker, "V5_5_0"]


def test_zz_a_broker_that_dies_is_struck_off(mixed: Cluster, java: JavaDriver) -> None:
    """Last of this file: it takes the broker away."""
    create_topic(mixed, java.admin(mixed), "T-left-behind")
    mixed.processes[-1].kill()
    until(lambda: not mixed.route("T-left-behind"), "the route is gone")
