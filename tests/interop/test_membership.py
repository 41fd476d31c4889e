# SPDX-License-Identifier: Apache-2.0
"""Members of one group come and go: the queues move, and no message is lost."""

from __future__ import annotations

from collections.abc import Callable

from .conftest import Names
from .java_client import JavaDriver, JavaPushConsumer
from .java_messages import Queue
from .servers import Cluster, until

# Far below the 20 s after which a Java client looks by itself: the broker must have told it.
TOLD_LIMIT_S = 10


def shares(*members: JavaPushConsumer) -> list[int]:
    """How many queues each member has of its topic, once no queue is held twice or by nobody."""
    held = [
        {queue for queue in member.assigned if not queue.topic.startswith("%")}
        for member in members
    ]
    together: set[Queue] = set().union(*held)
    if sum(len(some) for some in held) != len(together) or len(together) != 8:
        return []
    return sorted(len(some) for some in held)


def test_queues_move_and_nothing_is_lost(
    cluster: Cluster, java: JavaDriver, names: Names, new_driver: Callable[..., JavaDriver]
) -> None:
    """One member, two, three, the first in another JVM; that one is killed, another leaves."""
    topic, group = names.topic(queues=8), names.group()
    other = new_driver({})
    sender = java.sender(cluster)
    sent: set[bytes] = set()

    def send(count: int) -> None:
        bodies = [b"m%d" % number for number in range(len(sent), len(sent) + count)]
        sender.send_many(topic, bodies)
        sent.update(bodies)

    first = other.push_consumer(cluster, group, topic)
    until(lambda: shares(first) == [8], "the first has everything", limit_s=30)
    send(100)
    second = java.push_consumer(cluster, group, topic)
    until(lambda: shares(first, second) == [4, 4], "two share", TOLD_LIMIT_S)
    send(100)
    third = java.push_consumer(cluster, group, topic)
    until(lambda: shares(first, second, third) == [2, 3, 3], "three share", TOLD_LIMIT_S)
    send(100)
    other.kill()
    send(100)
    until(lambda: shares(second, third) == [4, 4], "two are left", TOLD_LIMIT_S)
    send(100)
    second.leave()
    until(lambda: shares(third) == [8], "one is left", TOLD_LIMIT_S)
    send(100)

    everyone = (first, second, third)
    until(
        lambda: sent <= {body for member in everyone for body in member.bodies},
        "every message received by someone",
    )


def test_the_broker_tells_the_members_itself(
    cluster: Cluster, names: Names, new_driver: Callable[..., JavaDriver]
) -> None:
    """With Java's own intervals: without the broker's word a member would wait 20 s."""
    topic, group = names.topic(queues=8), names.group()
    driver = new_driver({})
    first = driver.push_consumer(cluster, group, topic)
    until(lambda: shares(first) == [8], "the first has everything", limit_s=30)
    second = driver.push_consumer(cluster, group, topic)
    until(lambda: shares(first, second) == [4, 4], "two share", TOLD_LIMIT_S)
    second.leave()
    until(lambda: shares(first) == [8], "one is left", TOLD_LIMIT_S)
    driver.kill()


def test_ordered_members_hand_over_their_locks(
    cluster: Cluster, java: JavaDriver, names: Names
) -> None:
    topic, group = names.topic(queues=8), names.group()
    sender = java.sender(cluster)
    first = java.push_consumer(cluster, group, topic, orderly=True)
    until(lambda: shares(first) == [8], "the first has everything")
    for number in range(80):
        sender.send_selected(topic, b"%03d" % number, number=number)
    first.wait(80)
    second = java.push_consumer(cluster, group, topic, orderly=True)
    until(lambda: shares(first, second) == [4, 4], "two share", limit_s=40)
    for number in range(80, 160):
        sender.send_selected(topic, b"%03d" % number, number=number)
    until(lambda: len({*first.bodies, *second.bodies}) == 160, "every message once at least")
    assert second.received, "the second member works too"
    for member in (first, second):
        per_queue: dict[int, list[bytes]] = {}
        for one in member.received:
            per_queue.setdefault(one.queue.id, []).append(one.body)
        assert all(bodies == sorted(bodies) for bodies in per_queue.values())
