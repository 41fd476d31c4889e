# SPDX-License-Identifier: Apache-2.0
"""The stock pull consumer: every status a pull can have, offsets of its own."""

from __future__ import annotations

import pytest

from .conftest import Names
from .java_client import JavaDriver, JavaError
from .java_messages import Pulled
from .servers import Cluster, until


def test_every_status(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic(queues=1)
    puller = java.pull_consumer(cluster, names.group())
    [queue] = puller.queues(topic)

    empty = puller.pull(queue, 0)
    assert (empty.status, empty.next, empty.min, empty.max) == ("NO_NEW_MSG", 0, 0, 0)

    for number in range(10):
        java.sender(cluster).send(topic, b"p%d" % number, tag="TagA" if number < 5 else "TagB")
    java.reader(cluster).read(topic, 10)  # Java: a queue follows its log a moment later.

    found = puller.pull(queue, 0, 4)
    assert (found.status, found.next, found.min, found.max) == ("FOUND", 4, 0, 10)
    assert [one.body for one in found.messages] == [b"p0", b"p1", b"p2", b"p3"]
    assert [one.queue_offset for one in found.messages] == [0, 1, 2, 3]

    tagged = puller.pull(queue, 0, 32, "TagB")
    assert (tagged.status, tagged.next) == ("FOUND", 10)
    assert [one.tag for one in tagged.messages] == ["TagB"] * 5

    none = puller.pull(queue, 0, 32, "TagZ")
    assert (none.status, none.next, none.messages) == ("NO_MATCHED_MSG", 10, [])

    end = puller.pull(queue, 10)
    assert (end.status, end.next, end.max) == ("NO_NEW_MSG", 10, 10)

    beyond = puller.pull(queue, 11)
    assert (beyond.status, beyond.next) == ("OFFSET_ILLEGAL", 10)


def test_a_held_pull_is_answered_by_the_next_message(
    cluster: Cluster, java: JavaDriver, names: Names
) -> None:
    topic = names.topic(queues=1)
    puller = java.pull_consumer(cluster, names.group())
    [queue] = puller.queues(topic)
    java.sender(cluster).send(topic, b"before")
    held = puller.begin_pull_or_wait(queue, 1)
    # Whether it is parked cannot be seen from here; either way it answers only with the message.
    java.sender(cluster).send(topic, b"after")
    pulled = Pulled.of(held.result(10))
    assert (pulled.status, pulled.next) == ("FOUND", 2)
    assert [one.body for one in pulled.messages] == [b"after"]


def test_a_page_has_a_limit_in_bytes(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    """Java: a pull returns at most 256 KiB, and at least one message."""
    topic = names.topic(queues=1)
    puller = java.pull_consumer(cluster, names.group())
    [queue] = puller.queues(topic)
    sender = java.sender(cluster)
    noise = bytes(range(256)) * 2
    for _ in range(100):
        sender.send(topic, noise * 8)
    page = puller.pull(queue, 0, 100)
    assert 1 < len(page.messages) <= 64
    assert page.next == len(page.messages)


def test_offsets_of_a_group(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic, group = names.topic(queues=2), names.group()
    java.sender(cluster).send_many(topic, [b"x"] * 10)
    puller = java.pull_consumer(cluster, group)
    first, second = puller.queues(topic)
    assert java.committed(cluster, group, first) in (0, -1)
    puller.commit(cluster, group, first, 3)
    assert java.committed(cluster, group, second) in (0, -1)
    # A new member of the group finds it.
    again = java.pull_consumer(cluster, group)
    assert again.call("fetchConsumeOffset", first.json(), True) == 3


def test_a_failed_message_is_sent_back(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic, group = names.topic(queues=1), names.group()
    java.sender(cluster).send(topic, b"back")
    # The retry topic is made when a member of the group says hello.
    puller = java.pull_consumer(cluster, group)
    [queue] = puller.queues(topic)
    [one] = puller.pull(queue, 0).messages
    fields = {
        "offset": str(one.log_offset),
        "group": group,
        "delayLevel": "1",
        "originMsgId": one.message_id,
        "originTopic": topic,
        "unitMode": "false",
        "maxReconsumeTimes": "16",
    }
    until(
        lambda: java.remote(cluster.broker, 36, fields).code == 0,
        "the group is known to the broker",
    )
    retry = f"%RETRY%{group}"
    until(lambda: cluster.route(retry), "the retry topic is routed")
    again = java.reader(cluster).read(retry, 1)[0]
    assert (again.body, again.retries) == (b"back", 1)


def test_pulling_what_is_not_there(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic(queues=2)
    puller = java.pull_consumer(cluster, names.group())
    queue = puller.queues(topic)[0]
    missing = {**queue.json(), "queueId": 9}
    with pytest.raises(JavaError) as wrong_queue:
        puller.call("pull", missing, "*", 0, 32)
    assert wrong_queue.value.code == 29
    with pytest.raises(JavaError) as wrong_topic:
        puller.call("fetchSubscribeMessageQueues", names.new_topic())
    assert wrong_topic.value.kind == "MQClientException"
