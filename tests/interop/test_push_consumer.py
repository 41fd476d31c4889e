# SPDX-License-Identifier: Apache-2.0
"""The stock push consumer: concurrent, ordered, broadcasting, filtered."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from .conftest import Names
from .java_client import JavaDriver, JavaError
from .java_messages import Received
from .servers import Cluster, until

# Concurrent consumption keeps no order; with one thread it keeps that of the queue.
ONE_THREAD: dict[str, Any] = {"consumeThreadMin": 1, "consumeThreadMax": 1}


def by_queue(received: list[Received]) -> dict[int, list[int]]:
    offsets: dict[int, list[int]] = {}
    for one in received:
        offsets.setdefault(one.queue.id, []).append(one.queue_offset)
    return offsets


def test_concurrent(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic, group = names.topic(), names.group()
    consumer = java.push_consumer(cluster, group, topic)
    bodies = {b"c%d" % number for number in range(200)}
    receipts = java.sender(cluster).send_many(topic, sorted(bodies), tag="T", keys="k")
    received = consumer.wait(200)
    assert len(received) == 200
    assert {one.body for one in received} == bodies
    assert {one.message_id for one in received} == {receipt.message_id for receipt in receipts}
    assert {one.offset_id for one in received} == {receipt.offset_id for receipt in receipts}
    assert {(one.tag, one.keys, one.retries, one.topic) for one in received} == {
        ("T", "k", 0, topic)
    }
    one = received[0]
    assert int(one.properties["MIN_OFFSET"]) == 0
    assert int(one.properties["MAX_OFFSET"]) >= 1


def test_a_waiting_consumer_is_woken_by_a_message(
    cluster: Cluster, java: JavaDriver, names: Names
) -> None:
    topic, group = names.topic(queues=1), names.group()
    consumer = java.push_consumer(cluster, group, topic)
    java.sender(cluster).send(topic, b"first")
    consumer.wait(1)
    for number in range(5):  # Each finds the consumer's pull parked, far from its 15 s.
        java.sender(cluster).send(topic, b"m%d" % number)
        consumer.wait(2 + number, limit_s=5)


def test_ordered(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic, group = names.topic(), names.group()
    sender = java.sender(cluster)
    for step in range(20):
        for queue in range(4):
            sender.send_selected(topic, b"%d:%d" % (queue, step), number=queue)
    consumer = java.push_consumer(cluster, group, topic, orderly=True)
    received = consumer.wait(80)
    assert by_queue(received) == {queue: list(range(20)) for queue in range(4)}


def test_ordered_holds_its_queue_until_a_message_is_done(
    cluster: Cluster, java: JavaDriver, names: Names
) -> None:
    topic, group = names.topic(queues=1), names.group()
    sender = java.sender(cluster)
    for body in (b"one", b"bad", b"two"):
        sender.send(topic, body)
    behaviour = {"failPrefix": "bad", "failTimes": 2, "suspendMs": 50}
    consumer = java.push_consumer(cluster, group, topic, orderly=True, behaviour=behaviour)
    received = consumer.wait(5)
    assert [(one.body, one.done) for one in received] == [
        (b"one", True),
        (b"bad", False),
        (b"bad", False),
        (b"bad", True),
        (b"two", True),
    ]


def test_broadcasting(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic, group = names.topic(), names.group()
    # The driver keeps the offsets in a file per instance name: another cluster has others.
    members = [
        java.push_consumer(
            cluster,
            group,
            topic,
            messageModel="BROADCASTING",
            instanceName=f"{cluster.kind}-{group}-{number}",
        )
        for number in range(3)
    ]
    java.sender(cluster).send_many(topic, [b"b%d" % number for number in range(40)])
    for member in members:
        received = member.wait(40)
        assert {one.body for one in received} == {b"b%d" % number for number in range(40)}
        assert len(received) == 40
    printed = java.mqadmin("consumerConnection", "-n", cluster.nameserver, "-g", group)
    assert "BROADCASTING" in printed


def test_tags(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic()
    both = java.push_consumer(cluster, names.group(), topic, "TagA || TagB")
    only = java.push_consumer(cluster, names.group(), topic, "TagC")
    sender = java.sender(cluster)
    for number in range(30):
        tag = ("TagA", "TagB", "TagC")[number % 3]
        sender.send(topic, tag.encode(), tag=tag)
    sender.send(topic, b"none")
    assert sorted(one.body for one in both.wait(20)) == [b"TagA"] * 10 + [b"TagB"] * 10
    assert {one.tag for one in both.received} == {"TagA", "TagB"}
    assert [one.body for one in only.wait(10)] == [b"TagC"] * 10


def test_tags_of_one_hash_are_told_apart(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    """The broker's files hold only the hash; what it lets pass, the client looks at again."""
    topic = names.topic(queues=1)
    consumer = java.push_consumer(cluster, names.group(), topic, "Aa", **ONE_THREAD)
    sender = java.sender(cluster)
    assert _java_hash("Aa") == _java_hash("BB")
    for tag in ("BB", "Aa", "BB", "Aa"):
        sender.send(topic, tag.encode(), tag=tag)
    sender.send(topic, b"end", tag="Aa")
    until(lambda: b"end" in consumer.bodies, "the last message")
    assert consumer.bodies == [b"Aa", b"Aa", b"end"]


def _java_hash(text: str) -> int:
    value = 0
    for letter in text:
        value = (31 * value + ord(letter)) & 0xFFFFFFFF
    return value


def test_sql_filter(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic(queues=1)
    if cluster.kind == "eruca":  # Not served yet: a consumer is told so when it starts.
        with pytest.raises(JavaError, match="SQL92"):
            java.push_consumer(cluster, names.group(), topic, "price > 5", sql=True)
        return
    consumer = java.push_consumer(
        cluster,
        names.group(),
        topic,
        "(price BETWEEN 5 AND 10 AND colour IN ('red', 'blue')) OR TAGS = 'always'",
        sql=True,
        **ONE_THREAD,
    )
    sender = java.sender(cluster)
    for price in range(0, 15):
        sender.send(topic, b"%d" % price, properties={"price": str(price), "colour": "red"})
    sender.send(topic, b"green", properties={"price": "7", "colour": "green"})
    sender.send(topic, b"bare")
    sender.send(topic, b"end", tag="always")
    until(lambda: b"end" in consumer.bodies, "the last message")
    assert consumer.bodies == [b"%d" % price for price in range(5, 11)] + [b"end"]


def test_a_group_goes_on_where_it_stopped(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic, group = names.topic(queues=2), names.group()
    sender = java.sender(cluster)
    sender.send_many(topic, [b"a%d" % number for number in range(20)])
    first = java.push_consumer(cluster, group, topic)
    first.wait(20)
    first.close()  # Its last offsets are committed on the way out.
    sender.send_many(topic, [b"b%d" % number for number in range(10)])
    second = java.push_consumer(cluster, group, topic)
    assert {one.body for one in second.wait(10)} == {b"b%d" % number for number in range(10)}
    assert len(second.received) == 10


def test_a_new_group_may_start_at_the_end(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    """Java: on a young topic "the end" is the beginning, because the broker answers 0 for a group
    without offset while the queue still begins at 0 and in memory."""
    topic, group = names.topic(queues=1), names.group()
    sender = java.sender(cluster)
    sender.send_many(topic, [b"old%d" % number for number in range(5)])
    consumer = java.push_consumer(
        cluster, group, topic, consumeFromWhere="CONSUME_FROM_LAST_OFFSET"
    )
    sender.send(topic, b"new")
    consumer.wait(6)


def test_suspend_and_resume(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic, group = names.topic(queues=1), names.group()
    consumer = java.push_consumer(cluster, group, topic)
    sender = java.sender(cluster)
    sender.send(topic, b"one")
    consumer.wait(1)
    consumer.call("suspend")
    sender.send(topic, b"two")  # A pull that was parked already may bring this one.
    sender.send(topic, b"three")
    consumer.call("resume")
    consumer.wait(3)
    assert sorted(consumer.bodies) == [b"one", b"three", b"two"]


def test_many_consumers_of_many_groups_share_one_topic(
    cluster: Cluster, java: JavaDriver, names: Names
) -> None:
    topic = names.topic()
    consumers = [java.push_consumer(cluster, names.group(), topic) for _ in range(4)]
    threads = [
        threading.Thread(target=java.sender(cluster).send_many, args=(topic, [b"x"] * 50))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for consumer in consumers:
        assert len(consumer.wait(100)) == 100
