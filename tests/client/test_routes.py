# SPDX-License-Identifier: Apache-2.0
"""Which queues a route gives to writers and to readers."""

import pytest

from eruca.client.routes import route_of
from eruca.errors import Unreachable
from eruca.wire.bodies import BrokerData, QueueData, TopicRouteData
from eruca.wire.fields import MessageQueue


def route_data(*queues: QueueData, order_conf: str | None = None) -> TopicRouteData:
    brokers = [
        BrokerData("broker-a", "c", {0: "a:1", 1: "a:2"}),
        BrokerData("broker-b", "c", {1: "b:2"}),  # Its master is gone.
    ]
    return TopicRouteData(list(queues), brokers, order_conf=order_conf)


def test_writers_need_a_master_and_readers_any_broker() -> None:
    data = route_data(QueueData("broker-b", 1, 1, 6), QueueData("broker-a", 2, 1, 6))
    route = route_of("t", data, 0)
    assert route.write_queues == [MessageQueue("t", "broker-a", 0)]
    assert route.read_queues == [
        MessageQueue("t", "broker-a", 0),
        MessageQueue("t", "broker-a", 1),
        MessageQueue("t", "broker-b", 0),
    ]
    assert route.any_address("broker-b") == "b:2"
    with pytest.raises(Unreachable):
        route.address("broker-b")


def test_permissions_are_respected() -> None:
    route = route_of("t", route_data(QueueData("broker-a", 2, 2, 4)), 0)
    assert not route.write_queues
    assert len(route.read_queues) == 2
    route = route_of("t", route_data(QueueData("broker-a", 2, 2, 2)), 0)
    assert len(route.write_queues) == 2
    assert not route.read_queues


def test_an_operator_may_have_fixed_the_queues() -> None:
    data = route_data(QueueData("broker-a", 8, 8, 6), order_conf="broker-b:1;broker-a:2")
    assert route_of("t", data, 0).write_queues == [
        MessageQueue("t", "broker-b", 0),
        MessageQueue("t", "broker-a", 0),
        MessageQueue("t", "broker-a", 1),
    ]


def test_a_broker_that_is_not_in_the_route_is_unreachable() -> None:
    with pytest.raises(Unreachable):
        route_of("t", route_data(), 0).any_address("broker-c")
