# SPDX-License-Identifier: Apache-2.0
"""One directory, two masters: what a broker of either kind wrote, one of the other kind serves.

The files are small, so that a few thousand messages cross the end of several of each kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from .conftest import KINDS, create_topic, require
from .java_client import JavaDriver, JavaPullConsumer
from .java_messages import Queue, Receipt, Received, message
from .servers import Cluster, Servers, broker_settings, free_port, until

PAIRS = [(writer, reader) for writer in KINDS for reader in KINDS]
IDS = [f"{writer}-to-{reader}" for writer, reader in PAIRS]
SMALL_FILES = {
    "mappedFileSizeCommitLog": str(1 << 20),
    "mappedFileSizeConsumeQueue": str(20 * 300),
    "maxHashSlotNum": "500",
    "maxIndexNum": "2000",
    "maxMessageSize": str(1 << 16),
    "messageDelayLevel": "1s 12s 1s 1s 1s 1s",
}
DELAYED_LEVEL = 2
READ = 4
FLOOD_MIN = 3000


@pytest.fixture(scope="module")
def nameserver(servers: Servers) -> Iterator[str]:
    """One name server for every broker of this file."""
    port = free_port()
    process = servers.nameserver("java", port)
    yield f"127.0.0.1:{port}"
    process.kill()


class Directory:
    """One store directory and the settings of every broker that works on it."""

    def __init__(self, servers: Servers, nameserver: str) -> None:
        self._servers = servers
        self._cluster: Cluster | None = None
        root = servers.fresh("exchanged")
        # The same port again: the store's address is part of every message id.
        self.settings = broker_settings(free_port(), nameserver, root) | SMALL_FILES

    def open(self, kind: str) -> Cluster:
        broker = self._servers.broker(kind, self.settings)
        self._cluster = self._servers.cluster_of(kind, self.settings, broker)
        return self._cluster

    def stop(self) -> None:
        assert self._cluster is not None
        self._cluster.say_goodbye()
        self._cluster.processes[0].stop()

    def kill(self) -> None:
        if self._cluster is not None:
            self._cluster.say_goodbye()
            self._cluster.processes[0].kill()


@pytest.fixture
def directory(servers: Servers, nameserver: str) -> Iterator[Directory]:
    directory = Directory(servers, nameserver)
    yield directory
    directory.kill()


def as_stored(received: list[Received]) -> list[Received]:
    """Without what an answer adds to a message: the ends of its queue."""
    return [
        replace(
            one,
            properties={
                key: value
                for key, value in one.properties.items()
                if key not in ("MIN_OFFSET", "MAX_OFFSET")
            },
        )
        for one in received
    ]


def write_a_bit_of_everything(java: JavaDriver, cluster: Cluster) -> None:
    create_topic(cluster, java.admin(cluster), "T-plain", queues=4)
    create_topic(cluster, java.admin(cluster), "T-closed", queues=3, perm=READ)
    config = {"groupName": "G-special", "retryMaxTimes": 3, "retryQueueNums": 2}
    java.admin(cluster).call("createAndUpdateSubscriptionGroupConfig", cluster.broker, config)
    producer = java.producer(cluster, "G-writer", compressMsgBodyOverHowmuch=2000)
    for start in range(0, 2000, 250):
        bodies = [b"plain %d " % number + b"." * 900 for number in range(start, start + 250)]
        producer.send_many("T-plain", bodies, tag="TagA", keys="plain", properties={"n": "ü"})
    producer.send("T-plain", b"press me " * 1000, tag="TagB", keys="pressed")
    producer.send_batch([message("T-plain", b"batch %d" % number, keys="b") for number in range(5)])
    producer.send("T-made-on-the-way", b"x", keys="made")


@pytest.mark.parametrize(("writer", "reader"), PAIRS, ids=IDS)
def test_after_a_clean_stop(
    directory: Directory, java: JavaDriver, writer: str, reader: str
) -> None:
    require(writer)
    require(reader)
    cluster = directory.open(writer)
    write_a_bit_of_everything(java, cluster)
    puller = java.pull_consumer(cluster, "G-special")
    first = puller.queues("T-plain")[0]
    puller.commit(cluster, "G-special", first, 7)
    topics = ("T-plain", "T-made-on-the-way")
    before = {topic: as_stored(puller.read_all(topic)) for topic in topics}
    assert [len(before[topic]) for topic in topics] == [2006, 1]
    ends = {queue: puller.max_offset(queue) for queue in puller.queues("T-plain")}
    java.sender(cluster).send("T-plain", b"later", queue=first, delay_level=DELAYED_LEVEL)
    puller.leave()
    directory.stop()

    cluster = directory.open(reader)
    puller = java.pull_consumer(cluster, "G-reader-again")
    for topic in topics:
        now = [one for one in as_stored(puller.read_all(topic)) if one.body != b"later"]
        assert now == before[topic]
    find_again(puller, "T-plain", before["T-plain"])
    assert java.committed(cluster, "G-special", first) == 7
    check_settings(java, cluster)
    go_on(java, cluster, puller, first, ends[first])


def find_again(puller: JavaPullConsumer, topic: str, stored: list[Received]) -> None:
    """By offset id and by key."""
    for one in stored[::100]:
        found = Received.of(puller.call("viewMessage", topic, one.offset_id))
        assert (found.body, found.queue_offset) == (one.body, one.queue_offset)
    for key, count in (("pressed", 1), ("b", 5)):
        assert len(puller.call("queryMessage", topic, key, 32, 0, 2**62)) == count


def check_settings(java: JavaDriver, cluster: Cluster) -> None:
    admin = java.admin(cluster)
    until(lambda: cluster.route("T-closed"), "the closed topic is routed")
    [data] = admin.call("examineTopicRouteInfo", "T-closed")["queueDatas"]
    assert (data["readQueueNums"], data["writeQueueNums"], data["perm"]) == (3, 3, READ)
    group = admin.call("examineSubscriptionGroupConfig", cluster.broker, "G-special")
    assert (group["retryMaxTimes"], group["retryQueueNums"]) == (3, 2)


def go_on(
    java: JavaDriver, cluster: Cluster, puller: JavaPullConsumer, first: Queue, end: int
) -> None:
    """What was under way arrives, and new messages take the next offsets."""
    until(lambda: puller.max_offset(first) == end + 1, "the delayed message", limit_s=30)
    [later] = puller.pull(first, end).messages
    assert later.body == b"later"
    receipt = java.producer(cluster, "G-again").send("T-plain", b"new", queue=first)
    assert receipt.queue_offset == end + 1
    # The group goes on where it stopped: seven of the first queue are done.
    consumer = java.push_consumer(cluster, "G-special", "T-plain")
    consumer.wait(2006 - 7 + 2)
    offsets = [one.queue_offset for one in consumer.received if one.queue == first]
    assert min(offsets) == 7


@pytest.mark.parametrize(("writer", "reader"), PAIRS, ids=IDS)
def test_after_a_kill_while_writing(
    directory: Directory, java: JavaDriver, writer: str, reader: str
) -> None:
    require(writer)
    require(reader)
    cluster = directory.open(writer)
    create_topic(cluster, java.admin(cluster), "T-flood", queues=4)
    producer = java.producer(cluster, "G-flood", retryTimesWhenSendFailed=0)
    producer.flood("T-flood", size=400)
    until(lambda: producer.flood_count() > FLOOD_MIN, "enough is written", limit_s=60)
    directory.kill()
    acknowledged = producer.flood_stop()
    producer.leave()

    cluster = directory.open(reader)
    puller = java.pull_consumer(cluster, "G-reader-again")
    until(lambda: cluster.route("T-flood"), "the topic is routed")
    stored = {(one.queue, one.queue_offset): one for one in puller.read_all("T-flood")}
    check_flood(stored, acknowledged)
    for number in list(acknowledged)[::400]:
        found = puller.call("queryMessage", "T-flood", f"k{number}", 32, 0, 2**62)
        assert [Received.of(one).message_id for one in found] == [acknowledged[number].message_id]

    first = puller.queues("T-flood")[0]
    end = puller.max_offset(first)
    receipt = java.producer(cluster, "G-again").send("T-flood", b"new", queue=first)
    assert receipt.queue_offset == end


def check_flood(
    stored: dict[tuple[Queue, int], Received], acknowledged: dict[int, Receipt]
) -> None:
    """Every acknowledged message is where its receipt says; queues have no gaps."""
    for number, receipt in acknowledged.items():
        one = stored[receipt.queue, receipt.queue_offset]
        assert one.body.startswith(b"%d:" % number)
        assert (one.message_id, one.offset_id) == (receipt.message_id, receipt.offset_id)
    ends: dict[Queue, int] = {}
    for queue, offset in stored:
        ends[queue] = max(ends.get(queue, 0), offset + 1)
    assert sum(ends.values()) == len(stored)
    # At most what was in flight, one per thread, may be there without having been promised.
    assert len(stored) - len(acknowledged) <= 4
