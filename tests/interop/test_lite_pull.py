# SPDX-License-Identifier: Apache-2.0
"""The stock lite pull consumer: assigned or subscribed, with seek and commit."""

from __future__ import annotations

from .conftest import Names
from .java_client import JavaDriver
from .servers import Cluster, until


def test_assign_and_poll(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic(queues=2)
    sender = java.sender(cluster)
    for number in range(20):
        sender.send_selected(topic, b"l%02d" % number, number=number)
    lite = java.lite_consumer(cluster, names.group())
    queues = lite.queues(topic)
    assert len(queues) == 2
    lite.assign(queues)
    found = lite.poll_until(20)
    assert sorted(one.body for one in found) == [b"l%02d" % number for number in range(20)]


def test_assign_only_one_queue(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic(queues=2)
    sender = java.sender(cluster)
    for number in range(10):
        sender.send_selected(topic, b"%d" % number, number=number)
    lite = java.lite_consumer(cluster, names.group())
    second = lite.queues(topic)[1]
    lite.assign([second])
    found = lite.poll_until(5)
    assert [one.body for one in found] == [b"1", b"3", b"5", b"7", b"9"]
    assert {one.queue for one in found} == {second}


def test_subscribe_by_tag(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic()
    lite = java.lite_consumer(cluster, names.group())
    lite.subscribe(topic, "TagA")
    sender = java.sender(cluster)
    for number in range(20):
        sender.send(topic, b"%d" % number, tag="TagA" if number % 2 else "TagB")
    found = lite.poll_until(10)
    assert sorted(int(one.body) for one in found) == list(range(1, 20, 2))


def test_seek(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic(queues=1)
    sender = java.sender(cluster)
    for number in range(10):
        sender.send(topic, b"%d" % number)
    lite = java.lite_consumer(cluster, names.group())
    [queue] = lite.queues(topic)
    lite.assign([queue])
    assert len(lite.poll_until(10)) == 10
    lite.seek(queue, 7)
    assert [one.body for one in lite.poll_until(3)] == [b"7", b"8", b"9"]
    lite.call("seekToBegin", queue.json())
    assert lite.poll_until(10)[0].body == b"0"
    lite.call("seekToEnd", queue.json())
    sender.send(topic, b"new")
    assert [one.body for one in lite.poll_until(1)] == [b"new"]


def test_commit_by_hand(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic, group = names.topic(queues=1), names.group()
    sender = java.sender(cluster)
    for number in range(10):
        sender.send(topic, b"%d" % number)
    lite = java.lite_consumer(cluster, group, autoCommit=False)
    [queue] = lite.queues(topic)
    lite.assign([queue])
    lite.poll_until(10)
    lite.call("commit", {"pairs": [[queue.json(), 6]]}, True)
    until(lambda: java.committed(cluster, group, queue) == 6, "the commit is stored")
    assert lite.committed(queue) == 6
    lite.leave()

    again = java.lite_consumer(cluster, group, autoCommit=False)
    again.assign([queue])
    assert [one.body for one in again.poll_until(4)] == [b"6", b"7", b"8", b"9"]


def test_commit_by_itself(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic, group = names.topic(queues=2), names.group()
    for number in range(20):
        java.sender(cluster).send_selected(topic, b"x", number=number)
    lite = java.lite_consumer(cluster, group, autoCommitIntervalMillis=1000)
    lite.subscribe(topic)
    lite.poll_until(20)
    queues = lite.queues(topic)

    # Java commits from within poll and into memory, and tells the broker every few seconds.
    # (Also at its end, but in a one-way request just before it closes the connection.)
    def committed() -> list[int]:
        lite.poll(100)
        return [java.committed(cluster, group, queue) for queue in queues]

    until(lambda: committed() == [10, 10], "twenty are committed")
    assert [lite.committed(queue) for queue in queues] == [10, 10]


def test_pause_and_resume(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic(queues=1)
    lite = java.lite_consumer(cluster, names.group())
    [queue] = lite.queues(topic)
    lite.assign([queue])
    sender = java.sender(cluster)
    sender.send(topic, b"one")
    assert [one.body for one in lite.poll_until(1)] == [b"one"]
    lite.call("pause", [queue.json()])
    sender.send(topic, b"two")
    assert [one.body for one in lite.poll(300)] in (
        [],
        [b"two"],
    )  # The pull in flight may bring it.
    lite.call("resume", [queue.json()])
    sender.send(topic, b"three")
    until(lambda: b"three" in [one.body for one in lite.poll(500)], "the third message")


def test_offset_for_a_time(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic(queues=1)
    sender = java.sender(cluster)
    for number in range(5):
        sender.send(topic, b"%d" % number)
    lite = java.lite_consumer(cluster, names.group())
    [queue] = lite.queues(topic)
    stored = java.reader(cluster).read(topic, 5)
    assert lite.call("offsetForTimestamp", queue.json(), 0) == 0
    at = lite.call("offsetForTimestamp", queue.json(), stored[3].stored_ms)
    assert stored[at].stored_ms == stored[3].stored_ms
    assert at == 0 or stored[at - 1].stored_ms < stored[3].stored_ms
