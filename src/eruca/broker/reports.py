# SPDX-License-Identifier: Apache-2.0
"""How the broker, its topics and its groups are doing: what operators look at.

Per queue: what there is, how far a group has come, when its messages were stored. Of the broker:
a table of words and numbers with Java's names. Tools print it as it is and compute rates from
some; what Java has and Eruca has not, such as thread pools, is 0 in it.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Final

from eruca.broker.answers import reported
from eruca.broker.positions import ends, find_queue
from eruca.broker.statistics import MINUTE, TEN_MINUTES, TEN_SECONDS, Series
from eruca.net.peer import Peer
from eruca.net.server import Response
from eruca.store.lookup import earliest_ms
from eruca.store.reader import store_ms_at
from eruca.wire import commands
from eruca.wire.bodies import KVTable, TopicConfig
from eruca.wire.codes import VERSION, ResponseCode, version_name
from eruca.wire.fields import MessageQueue, parse
from eruca.wire.header import Command
from eruca.wire.record import store_ms_of
from eruca.wire.reports import (
    ConsumeOffset,
    ConsumeStats,
    ConsumeStatsList,
    ConsumeTimeSpans,
    HARuntimeInfo,
    QueueTimeSpan,
    TopicOffset,
    TopicStatsTable,
)

if TYPE_CHECKING:
    from eruca.broker.broker import Broker

RECORD_HEAD_SIZE: Final = 88  # Enough to find the store time in, whatever the hosts are.
POOLS: Final = ("send", "pull", "litePull", "query", "ack")
ALWAYS_ZERO: Final = (
    "EndTransactionQueueSize", "EndTransactionThreadPoolQueueCapacity", "dispatchBehindBytes",
    "dispatchMaxBuffer", "getMessageEntireTimeMax", "pageCacheLockTimeMills",
    "putMessageEntireTimeMax", "putMessageFailedTimes", "remainTransientStoreBufferNumbs",
    "startAcceptSendRequestTimeStamp", "timerCongestNum", "timerOffsetBehind", "timerReadBehind",
    *(f"{pool}ThreadPoolQueue{what}" for pool in POOLS
      for what in ("Capacity", "HeadWaitTimeMills", "Size")),
)  # fmt: skip


# Topics and groups.


def topic_stats(broker: "Broker", peer: Peer, request: Command) -> Response:
    ask = parse(commands.GetTopicStats, request.fields)
    topic = broker.topics.find(ask.topic)
    if topic is None:
        return _no_topic(ask.topic)
    offsets: dict[MessageQueue, TopicOffset] = {}
    for queue_id in range(max(topic.write_queue_count, topic.read_queue_count)):
        begin, end = ends(broker, ask.topic, queue_id)
        last_ms = max(0, _stored_ms(broker, ask.topic, queue_id, end - 1))
        offsets[_queue(broker, ask.topic, queue_id)] = TopicOffset(begin, end, last_ms)
    return reported(TopicStatsTable(offsets, broker.statistics.put_per_second(ask.topic)))


def consume_stats(broker: "Broker", peer: Peer, request: Command) -> Response:
    """How far a group is: on one topic, on a list of them, or on all that it consumes."""
    ask = parse(commands.GetConsumeStats, request.fields)
    if ask.topic and ask.topic.strip():
        topics = _consumed(broker, ask.group, [ask.topic])
    elif ask.topics and ask.topics.strip():  # Java: these are not asked whether they are read.
        named = (broker.topics.find(each.strip()) for each in ask.topics.split(";"))
        topics = [each for each in named if each is not None]
    else:
        topics = _consumed(broker, ask.group, broker.offsets.topics_of(ask.group))
    offsets: dict[MessageQueue, ConsumeOffset] = {}
    per_second = 0.0
    for topic in topics:
        stats = _stats_of(broker, ask.group, topic, topic.read_queue_count)
        offsets |= stats.offsets
        per_second += stats.consume_tps
    return reported(ConsumeStats(offsets, per_second))


def all_consume_stats(broker: "Broker", peer: Peer, request: Command) -> Response:
    """The same for all groups."""
    ask = parse(commands.GetBrokerConsumeStats, request.fields)
    by_group: list[dict[str, list[ConsumeStats]]] = []
    behind = in_flight = 0
    topics_of = broker.offsets.as_table().group_topics or {}
    for group in broker.groups.table:
        stats = [
            _stats_of(broker, group, topic, topic.write_queue_count)
            for topic in _consumed(broker, group, topics_of.get(group, ()))
            if topic.order or not ask.ordered
        ]
        by_group.append({group: stats})
        for offset in (offset for each in stats for offset in each.offsets.values()):
            behind += offset.broker_offset - offset.consumer_offset
            in_flight += offset.pull_offset - offset.consumer_offset
    address = broker.registration.address
    return reported(ConsumeStatsList(address, by_group, behind, in_flight))


def _consumed(broker: "Broker", group: str, names: Iterable[str]) -> list[TopicConfig]:
    """Of these topics those that the group reads: an online one says it itself."""
    online = broker.members.consumers.get(group)
    found = (broker.topics.find(name) for name in names)
    return [
        topic
        for topic in found
        if topic is not None and (online is None or topic.name in online.subscriptions)
    ]


def _stats_of(broker: "Broker", group: str, topic: TopicConfig, queue_count: int) -> ConsumeStats:
    offsets: dict[MessageQueue, ConsumeOffset] = {}
    for queue_id in range(queue_count):
        _, end = ends(broker, topic.name, queue_id)
        consumed = max(0, broker.offsets.find(group, topic.name, queue_id))
        pulled = max(consumed, broker.offsets.find_pull(group, topic.name, queue_id))
        last_ms = max(0, _stored_ms(broker, topic.name, queue_id, consumed - 1))
        queue = _queue(broker, topic.name, queue_id)
        offsets[queue] = ConsumeOffset(end, consumed, pulled, last_ms)
    return ConsumeStats(offsets, broker.statistics.given_per_second(group, topic.name))


def time_spans(broker: "Broker", peer: Peer, request: Command) -> Response:
    """Per queue: the times of its first and last message, and of where a group is."""
    ask = parse(commands.QueryConsumeTimeSpan, request.fields)
    topic = broker.topics.find(ask.topic)
    if topic is None:
        return _no_topic(ask.topic)
    ids = range(topic.write_queue_count)
    return reported(ConsumeTimeSpans([_span(broker, ask, queue_id) for queue_id in ids]))


def _span(broker: "Broker", ask: commands.QueryConsumeTimeSpan, queue_id: int) -> QueueTimeSpan:
    queue = find_queue(broker, ask.topic, queue_id)
    first_ms = -1 if queue is None else earliest_ms(broker.store, queue)
    _, end = ends(broker, ask.topic, queue_id)
    last_ms = _stored_ms(broker, ask.topic, queue_id, end - 1)
    offset = max(0, broker.offsets.find(ask.group, ask.topic, queue_id))
    consumed_ms = _stored_ms(broker, ask.topic, queue_id, offset - 1) if offset else first_ms
    delay_ms = 0
    if offset < end:
        delay_ms = broker.clock.now_ms() - _stored_ms(broker, ask.topic, queue_id, offset)
    return QueueTimeSpan(
        queue=_queue(broker, ask.topic, queue_id),
        min_ms=first_ms,
        max_ms=last_ms,
        consume_ms=consumed_ms,
        delay_ms=delay_ms,
        min_text=_human(first_ms),
        max_text=_human(last_ms),
        consume_text=_human(consumed_ms),
    )


def _no_topic(name: str) -> Response:
    return Response(ResponseCode.TOPIC_NOT_EXIST, remark=f"topic[{name}] not exist")


def _queue(broker: "Broker", topic: str, queue_id: int) -> MessageQueue:
    return MessageQueue(topic, broker.settings.name, queue_id)


def _stored_ms(broker: "Broker", topic: str, queue_id: int, offset: int) -> int:
    """When the message was stored; -1 when there is none."""
    queue = find_queue(broker, topic, queue_id)
    return -1 if queue is None else int(store_ms_at(broker.store.log, queue, offset))


def _human(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000).strftime("%Y-%m-%d#%H:%M:%S:") + f"{ms % 1000:03}"


# The broker.


def statistics_item(broker: "Broker", peer: Peer, request: Command) -> Response:
    ask = parse(commands.ViewBrokerStatsData, request.fields)
    report = broker.statistics.report(ask.stats_name, ask.stats_key)
    if report is None:
        remark = f"The stats <{ask.stats_name}> <{ask.stats_key}> not exist"
        return Response(ResponseCode.SYSTEM_ERROR, remark=remark)
    return reported(report)


def replication(broker: "Broker", peer: Peer, request: Command) -> Response:
    """A master without slaves."""
    return reported(HARuntimeInfo(master=True, log_offset_max=int(broker.store.log.end)))


def runtime_info(broker: "Broker", peer: Peer, request: Command) -> Response:
    broker.statistics.look_now()
    values = dict.fromkeys(ALWAYS_ZERO, "0")
    values |= _disk_values(broker)
    values |= _message_values(broker)
    now_ms = broker.clock.now_ms()
    values |= {
        "bootTimestamp": str(broker.started_ms),
        "brokerActive": "true",
        "brokerVersionDesc": version_name(VERSION),
        "runtime": _duration(now_ms - broker.started_ms),
    }
    return reported(KVTable(values))


def _disk_values(broker: "Broker") -> dict[str, str]:
    store = broker.store
    log = store.log
    used = broker.disk.used_ratio(store.settings.log_path)
    queues_used = broker.disk.used_ratio(store.settings.root)
    return {
        "commitLogDirCapacity": f"{100 * (1 - used):.1f} % free",
        "commitLogDiskRatio": f"{used:.4f}",
        f"commitLogDiskRatio_{store.settings.log_path}": f"{used:.4f}",
        "commitLogMaxOffset": str(log.end),
        "commitLogMinOffset": str(log.begin),
        "consumeQueueDiskRatio": f"{queues_used:.4f}",
        "earliestMessageTimeStamp": str(_first_stored_ms(broker)),
        "remainHowManyDataToFlush": f"{log.end - log.flushed} B",
    }


def _first_stored_ms(broker: "Broker") -> int:
    """When the oldest message of all was stored; -1 without any."""
    log = broker.store.log
    if log.end - log.begin < RECORD_HEAD_SIZE:
        return -1
    return int(store_ms_of(log.read(log.begin, RECORD_HEAD_SIZE), 0))


def _message_values(broker: "Broker") -> dict[str, str]:
    put, given = broker.statistics.put, broker.statistics.given
    total = put.total.last
    given_rates = _rates(given.total)
    return {
        "getFoundTps": given_rates,
        "getMissTps": "0.0 0.0 0.0",
        "getTotalTps": given_rates,
        "getTransferredTps": given_rates,
        "msgGetTotalTodayMorning": str(given.until_today),
        "msgGetTotalTodayNow": str(given.total.last.count),
        "msgGetTotalYesterdayMorning": str(given.until_yesterday),
        "msgPutTotalTodayMorning": str(put.until_today),
        "msgPutTotalTodayNow": str(total.count),
        "msgPutTotalYesterdayMorning": str(put.until_yesterday),
        "putLatency99": "0.00",
        "putLatency999": "0.00",
        "putMessageAverageSize": str(total.size / max(1, total.count)),
        "putMessageDistributeTime": "",
        "putMessageSizeTotal": str(total.size),
        "putMessageTimesTotal": str(total.count),
        "putTps": _rates(put.total),
        "timerDequeueTps": "0.0",
        "timerEnqueueTps": "0.0",
    }


def _rates(total: Series) -> str:
    """Per second, over 10 s, 1 min and 10 min."""
    spans = (TEN_SECONDS, MINUTE, TEN_MINUTES)
    return " ".join(str(total.growth(span, total.last).per_second) for span in spans)


def _duration(ms: int) -> str:
    minutes, seconds = divmod(ms // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"[ {days} days, {hours} hours, {minutes} minutes, {seconds} seconds ]"
