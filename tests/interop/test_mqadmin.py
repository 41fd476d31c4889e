# SPDX-License-Identifier: Apache-2.0
"""The stock mqadmin prints the same against Eruca as against Java.

What a command prints has a shape: the text with addresses, ids, times and rates taken out. The
shapes stand in shapes/, one file per command, written by Java's own servers:

    ERUCA_REWRITE=1 pytest tests/interop/test_mqadmin.py -k java     # then read the diff
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from .conftest import Names, create_topic
from .java_client import JavaDriver
from .java_messages import Queue, Receipt
from .servers import Cluster, until

SHAPES = Path(__file__).parent / "shapes"
UPDATE_CONSUMER_OFFSET = 15
TOPIC = "T-mqadmin"
WRITER = "G-mqadmin-writer"
BEHIND = "G-mqadmin-behind"  # Has read three of five and left.
ONLINE = "G-mqadmin-online"  # Has read everything and stays.

PATTERNS = [
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(,\d{3})?", "TIME"),
    (r"\d+\.\d+\.\d+\.\d+@\d+#\d+", "CLIENT"),
    (r"\b[0-9A-F]{32}\b", "ID"),
    (r"(commitLogOffset=|CommitLog Offset: +|@ID@)\d+", r"\1POSITION"),
    (r"\d+\.\d+\.\d+\.\d+:\d+", "ADDRESS"),
    (r"\b\d+ms\b", "MS"),
    (r"\b\d+\.\d+", "RATE"),
    (r"\b\d{4,}\b", "NUMBER"),
    (r"[ \t]+", " "),
]


@dataclass(frozen=True, slots=True)
class Played:
    """What the commands look at."""

    cluster: Cluster
    receipts: list[Receipt]

    def shape(self, printed: str) -> str:
        names = [
            (self.cluster.nameserver, "NAMESERVER"),
            (self.cluster.broker, "BROKER"),
        ]
        for name, word in names:
            printed = printed.replace(name, word)
        for pattern, word in PATTERNS:
            printed = re.sub(pattern, word, printed)
        lines = [line.strip() for line in printed.splitlines()]
        kept = [line for line in lines if not re.match(r"at |\.\.\. |See |For more|$", line)]
        return "\n".join(kept) + "\n"

    def run(self, driver: JavaDriver, command: str) -> str:
        filled = command.format(
            topic=TOPIC,
            behind=BEHIND,
            online=ONLINE,
            writer=WRITER,
            broker=self.cluster.broker,
            id=self.receipts[0].message_id,
            offset_id=self.receipts[0].offset_id,
        )
        return driver.mqadmin(*filled.split(), "-n", self.cluster.nameserver)


def _leave_behind(driver: JavaDriver, cluster: Cluster, offsets: dict[Queue, int]) -> None:
    """A group that was here: configured, with offsets and a retry topic, and nobody in it.

    Not by a client that leaves: Java may take a last heartbeat after its good-bye, and keep it.
    """
    admin = driver.admin(cluster)
    config = {"groupName": BEHIND}
    admin.call("createAndUpdateSubscriptionGroupConfig", cluster.broker, config)
    create_topic(cluster, admin, f"%RETRY%{BEHIND}", queues=1)
    for queue, offset in offsets.items():
        fields = {
            "consumerGroup": BEHIND,
            "topic": queue.topic,
            "queueId": str(queue.id),
            "commitOffset": str(offset),
        }
        assert driver.remote(cluster.broker, UPDATE_CONSUMER_OFFSET, fields).code == 0


@pytest.fixture(scope="module")
def played(cluster: Cluster, driver: JavaDriver) -> Iterator[Played]:
    make = ["updateTopic", "-n", cluster.nameserver, "-b", cluster.broker, "-t", TOPIC]
    driver.mqadmin(*make, "-r", "2", "-w", "2")
    until(lambda: cluster.route(TOPIC), "the topic is routed")
    online = driver.push_consumer(cluster, ONLINE, TOPIC, "TagA || TagB")
    writer = driver.producer(cluster, WRITER)
    for client in (online, writer):
        driver.forget(client)  # They are to outlive the first test.
    receipts = [
        writer.send(
            TOPIC,
            b"body %d" % number,
            queue=Queue(TOPIC, cluster.broker_name, number // 4),
            tag="TagA",
            keys=f"key{number}",
        )
        for number in range(5)
    ]
    online.wait(5)
    queues = [receipts[0].queue, receipts[4].queue]
    _leave_behind(driver, cluster, dict(zip(queues, (3, 0), strict=True)))
    online.persist()
    until(
        lambda: [driver.committed(cluster, ONLINE, queue) for queue in queues] == [4, 1],
        "the reader has committed",
    )
    yield Played(cluster, receipts)
    online.leave()
    writer.leave()


def same_shape(played: Played, name: str, printed: str, *, ordered: bool = True) -> None:
    """Compare with the recorded shape; `ordered` is off where the order is that of a hash table."""
    shape = played.shape(printed)
    if not ordered:
        shape = "".join(sorted(shape.splitlines(keepends=True)))
    path = SHAPES / f"{name}.txt"
    if os.environ.get("ERUCA_REWRITE") == "1" and played.cluster.kind == "java":
        path.write_text(shape)
    assert shape == path.read_text()


@pytest.mark.parametrize(
    "command",
    [
        "clusterList",
        "topicRoute -t {topic}",
        "topicStatus -t {topic}",
        "topicClusterList -t {topic}",
        "consumerProgress -g {behind}",
        "consumerProgress -g {online}",
        "consumerConnection -g {online}",
        "consumerConnection -g {behind}",
        "consumerStatus -g {online}",
        "producerConnection -g {writer} -t {topic}",
        "queryMsgByKey -t {topic} -k key3",
        "queryMsgByKey -t {topic} -k nothing",
        "queryMsgById -t {topic} -i {offset_id}",
        "queryMsgByUniqueKey -t {topic} -i {id}",
        "queryMsgByOffset -t {topic} -b broker-a -i 1 -o 0",
        "printMsg -t {topic}",
        "topicRoute -t T-nowhere",
        "topicStatus -t T-nowhere",
    ],
)
def test_prints_the_same(played: Played, driver: JavaDriver, command: str) -> None:
    name = re.sub(r"[^a-zA-Z0-9]+", "-", command).strip("-")
    same_shape(played, name, played.run(driver, command), ordered="printMsg" not in command)


def test_cluster_list_by_messages(played: Played, driver: JavaDriver) -> None:
    printed = played.run(driver, "clusterList -m")
    same_shape(played, "clusterList-m", re.sub(r"\b\d+\b", "COUNT", printed))


def test_topic_list(played: Played, driver: JavaDriver) -> None:
    """Every topic that Java has from its start, and ours."""
    topics = set(played.run(driver, "topicList").split())
    made = {topic for topic in topics if re.match(r"%RETRY%|%DLQ%|T\d*-", topic)}
    assert {TOPIC, f"%RETRY%{ONLINE}"} <= made
    same_shape(played, "topicList", "\n".join(topics - made), ordered=False)


def test_broker_status(played: Played, driver: JavaDriver) -> None:
    """The same lines; what they say is compared where a test can know it."""
    printed = played.run(driver, "brokerStatus -b {broker}")
    said = {
        key.strip(): value.strip()
        for key, _, value in (line.partition(":") for line in printed.splitlines() if ":" in line)
    }
    # One key holds a path, and there is one for every delay level in use.
    keys = sorted(key for key in said if not re.search("/|scheduleMessageOffset_", key))
    same_shape(played, "brokerStatus", "\n".join(keys))
    assert said["brokerActive"] == "true"
    assert int(said["commitLogMinOffset"]) == 0
    assert int(said["commitLogMaxOffset"]) > 0
    assert int(said["msgPutTotalTodayNow"]) >= 5
    assert int(said["earliestMessageTimeStamp"]) > 1_600_000_000_000


def test_update_and_delete_a_topic(played: Played, driver: JavaDriver, names: Names) -> None:
    topic, cluster = names.new_topic(), played.cluster
    made = played.run(driver, f"updateTopic -b {{broker}} -t {topic} -r 3 -w 3 -p 6")
    until(lambda: cluster.route(topic), "the topic is routed")
    changed = played.run(driver, f"updateTopic -c DefaultCluster -t {topic} -r 5 -w 2 -p 4 -o true")
    route = ""

    def routed() -> bool:
        nonlocal route
        route = played.run(driver, f"topicRoute -t {topic}")
        return '"readQueueNums":5' in route

    until(routed, "the change is routed")
    permission = played.run(driver, f"updateTopicPerm -b {{broker}} -t {topic} -p 2")
    deleted = played.run(driver, f"deleteTopic -c DefaultCluster -t {topic}")
    until(lambda: not cluster.route(topic), "the topic is gone")
    assert topic not in played.run(driver, "topicList").split()
    same_shape(played, "updateTopic", made + changed + route + permission + deleted)


def test_update_and_delete_a_group(played: Played, driver: JavaDriver, names: Names) -> None:
    group = names.group()
    made = played.run(driver, f"updateSubGroup -b {{broker}} -g {group} -r 3 -q 2 -d false")
    changed = played.run(driver, f"updateSubGroup -c DefaultCluster -g {group} -s false -o true")
    config = played.run(driver, f"getConsumerConfig -g {group}")
    deleted = played.run(driver, f"deleteSubGroup -b {{broker}} -g {group}")
    same_shape(played, "updateSubGroup", made + changed + config + deleted)


def test_reset_offsets(played: Played, driver: JavaDriver, names: Names) -> None:
    cluster, group = played.cluster, names.group()
    topic = names.topic(queues=2)
    sender = driver.sender(cluster)
    for number in range(6):
        sender.send_selected(topic, b"%d" % number, number=number)
    reader = driver.push_consumer(cluster, group, topic)
    reader.wait(6)
    printed = played.run(driver, f"resetOffsetByTime -g {group} -t {topic} -s 0")
    reader.wait(12)  # Java: the broker tells the members, and they start over.
    reader.leave()
    same_shape(played, "resetOffsetByTime", printed, ordered=False)


def test_permission_of_a_broker(played: Played, driver: JavaDriver) -> None:
    cluster = played.cluster
    wiped = played.run(driver, "wipeWritePerm -b broker-a")
    assert '"perm":4' in played.run(driver, "topicRoute -t {topic}")
    restored = played.run(driver, "addWritePerm -b broker-a")
    assert '"perm":6' in played.run(driver, "topicRoute -t {topic}")
    assert driver.sender(cluster).send(TOPIC, b"and back", queue=played.receipts[4].queue)
    counts = re.sub(r"\d+$", "COUNT", wiped + restored, flags=re.M)
    same_shape(played, "wipeWritePerm", counts)


def test_broker_config(played: Played, driver: JavaDriver) -> None:
    changed = played.run(driver, "updateBrokerConfig -b {broker} -k fileReservedTime -v 71")
    config = played.run(driver, "getBrokerConfig -b {broker}")
    assert re.search(r"fileReservedTime\s+=\s+71\b", config)
    assert re.search(r"brokerName\s+=\s+broker-a\b", config)
    same_shape(played, "updateBrokerConfig", changed)


def test_key_value_config(played: Played, driver: JavaDriver) -> None:
    made = played.run(driver, "updateKvConfig -s NAMESPACE -k key -v value")
    gone = played.run(driver, "deleteKvConfig -s NAMESPACE -k key")
    same_shape(played, "updateKvConfig", made + gone)


def test_send_message(played: Played, driver: JavaDriver, names: Names) -> None:
    topic = names.topic(queues=1)
    printed = played.run(
        driver, f"sendMessage -t {topic} -p payload -c TagX -k keyX -b broker-a -i 0"
    )
    [stored] = driver.reader(played.cluster).read(topic, 1)
    assert (stored.body, stored.tag, stored.keys) == (b"payload", "TagX", "keyX")
    same_shape(played, "sendMessage", printed)
