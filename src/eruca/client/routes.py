# SPDX-License-Identifier: Apache-2.0
"""What a route means to a client: which queues to write to and to read from, and where they are.

Pure functions of a TopicRouteData; `session` fetches and keeps it.
"""

from dataclasses import dataclass
from typing import Final

from eruca.errors import Unreachable
from eruca.message import MessageQueue
from eruca.wire.bodies import PERM_READ, PERM_WRITE, QueueData, TopicRouteData

MASTER_ID: Final = 0

DEFAULT_QUEUE_COUNT: Final = 4


@dataclass(frozen=True, slots=True)
class Route:
    """One topic, as a client sees it."""

    topic: str
    write_queues: list[MessageQueue]
    read_queues: list[MessageQueue]
    brokers: dict[str, dict[int, str]]  # broker name -> broker id -> address
    fetched_ms: int

    def address(self, broker_name: str, broker_id: int = MASTER_ID) -> str:
        """Where a broker listens. Raises Unreachable."""
        address = self.brokers.get(broker_name, {}).get(broker_id)
        if address is None:
            raise Unreachable(f"broker {broker_name} has no id {broker_id} in the route")
        return address

    def any_address(self, broker_name: str) -> str:
        """The master, or whoever else has the queues: for reading."""
        addresses = self.brokers.get(broker_name, {})
        if not addresses:
            raise Unreachable(f"broker {broker_name} is not in the route")
        return addresses[min(addresses)]


def route_of(topic: str, data: TopicRouteData, now_ms: int) -> Route:
    brokers = {each.broker_name: dict(each.addresses) for each in data.brokers}
    parts = sorted(data.queues, key=lambda part: part.broker_name)
    return Route(
        topic,
        _ordered_queues(topic, data.order_conf) or _write_queues(topic, parts, brokers),
        [
            MessageQueue(topic, part.broker_name, queue_id)
            for part in parts
            if part.perm & PERM_READ
            for queue_id in range(part.read_queue_count)
        ],
        brokers,
        now_ms,
    )


def template_route(topic: str, data: TopicRouteData, now_ms: int) -> Route:
    """The route that `topic` will have once a first message has created it."""
    for part in data.queues:
        part.read_queue_count = min(DEFAULT_QUEUE_COUNT, part.read_queue_count)
        part.write_queue_count = part.read_queue_count
    return route_of(topic, data, now_ms)


def _write_queues(
    topic: str, parts: list[QueueData], brokers: dict[str, dict[int, str]]
) -> list[MessageQueue]:
    return [
        MessageQueue(topic, part.broker_name, queue_id)
        for part in parts
        if part.perm & PERM_WRITE and MASTER_ID in brokers.get(part.broker_name, {})
        for queue_id in range(part.write_queue_count)
    ]


def _ordered_queues(topic: str, order_conf: str | None) -> list[MessageQueue]:
    """The queues that an operator has fixed: `broker-a:4;broker-b:4`."""
    queues = []
    for part in (order_conf or "").split(";"):
        broker_name, colon, count = part.partition(":")
        if colon and count.isdecimal():
            queues += [MessageQueue(topic, broker_name, queue_id) for queue_id in range(int(count))]
    return queues
