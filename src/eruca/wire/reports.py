# SPDX-License-Identifier: Apache-2.0
"""The JSON bodies that tools and slaves ask for: offsets, statistics, states of clients.

Written like those in bodies.py. Maps with queues as keys have MessageQueue keys here; most of the
others are small. A `*_text` field is a time as Java's tools print it: `2026-01-31#13:05:09:007`.
"""

from dataclasses import dataclass
from enum import Enum

from eruca.wire.bodies import DataVersion, SubscriptionData
from eruca.wire.fields import Int32, MessageQueue, wire


class ConsumeResult(Enum):
    """What came of a message that a tool had consumed directly."""

    CR_SUCCESS = 0
    CR_LATER = 1
    CR_ROLLBACK = 2
    CR_COMMIT = 3
    CR_THROW_EXCEPTION = 4
    CR_RETURN_NULL = 5


# Offsets.


@dataclass(slots=True)
class OffsetTable:
    """Offsets of all groups: "topic@group" -> queue -> offset."""

    offsets: dict[str, dict[int, int]] = wire("offsetTable", make=dict)
    data_version: DataVersion | None = wire("dataVersion", None)
    pull_offsets: dict[str, dict[int, int]] | None = wire("pullOffsetTable", None)
    group_topics: dict[str, list[str]] | None = wire("groupTopicMap", None)


@dataclass(slots=True)
class DelayOffsetTable:
    """How far each delay level has been delivered."""

    offsets: dict[int, int] = wire("offsetTable", make=dict)
    data_version: DataVersion | None = wire("dataVersion", None)


@dataclass(frozen=True, slots=True)
class CorrectionOffsets:
    offsets: dict[int, int] = wire("correctionOffsets", make=dict)


@dataclass(frozen=True, slots=True)
class ResetOffsets:
    offsets: dict[MessageQueue, int] = wire("offsetTable", make=dict)


@dataclass(frozen=True, slots=True)
class QueueOffset:
    topic: str = wire("topic")
    broker_name: str = wire("brokerName")
    queue_id: Int32 = wire("queueId")
    offset: int = wire("offset")


@dataclass(frozen=True, slots=True)
class ResetOffsetsForCpp:
    """ResetOffsets for clients whose language is CPP: they cannot read objects as keys."""

    offsets: list[QueueOffset] = wire("offsetTable", make=list)


@dataclass(frozen=True, slots=True)
class ConsumerStatus:
    """Offsets as the clients of a group see them: of one client, or per client id."""

    of_client: dict[MessageQueue, int] = wire("messageQueueTable", make=dict)
    by_client: dict[str, dict[MessageQueue, int]] = wire("consumerTable", make=dict)


# Statistics.


@dataclass(frozen=True, slots=True)
class TopicOffset:
    min_offset: int = wire("minOffset", 0)
    max_offset: int = wire("maxOffset", 0)
    last_update_ms: int = wire("lastUpdateTimestamp", 0)


@dataclass(frozen=True, slots=True)
class TopicStatsTable:
    offsets: dict[MessageQueue, TopicOffset] = wire("offsetTable", make=dict)
    put_tps: float = wire("topicPutTps", 0.0)


@dataclass(frozen=True, slots=True)
class ConsumeOffset:
    broker_offset: int = wire("brokerOffset", 0)
    consumer_offset: int = wire("consumerOffset", 0)
    pull_offset: int = wire("pullOffset", 0)
    last_ms: int = wire("lastTimestamp", 0)


@dataclass(frozen=True, slots=True)
class ConsumeStats:
    offsets: dict[MessageQueue, ConsumeOffset] = wire("offsetTable", make=dict)
    consume_tps: float = wire("consumeTps", 0.0)


@dataclass(frozen=True, slots=True)
class ConsumeStatsList:
    broker_address: str | None = wire("brokerAddr", None)
    stats: list[dict[str, list[ConsumeStats]]] = wire("consumeStatsList", make=list)
    total_diff: int = wire("totalDiff", 0)
    total_inflight_diff: int = wire("totalInflightDiff", 0)


@dataclass(frozen=True, slots=True)
class BrokerStatsItem:
    sum: int = wire("sum", 0)
    tps: float = wire("tps", 0.0)
    average_per_call: float = wire("avgpt", 0.0)


@dataclass(frozen=True, slots=True)
class BrokerStatsData:
    minute: BrokerStatsItem = wire("statsMinute", make=BrokerStatsItem)
    hour: BrokerStatsItem = wire("statsHour", make=BrokerStatsItem)
    day: BrokerStatsItem = wire("statsDay", make=BrokerStatsItem)


@dataclass(frozen=True, slots=True)
class QueueTimeSpan:
    queue: MessageQueue = wire("messageQueue")
    min_ms: int = wire("minTimeStamp", 0)
    max_ms: int = wire("maxTimeStamp", 0)
    consume_ms: int = wire("consumeTimeStamp", 0)
    delay_ms: int = wire("delayTime", 0)
    min_text: str | None = wire("minTimeStampStr", None)
    max_text: str | None = wire("maxTimeStampStr", None)
    consume_text: str | None = wire("consumeTimeStampStr", None)


@dataclass(frozen=True, slots=True)
class ConsumeTimeSpans:
    spans: list[QueueTimeSpan] = wire("consumeTimeSpanSet", make=list)


@dataclass(frozen=True, slots=True)
class TimerCount:
    count: int = wire("count", 0)
    timestamp: int = wire("timeStamp", 0)


@dataclass(frozen=True, slots=True)
class TimerMetrics:
    """How many timer messages wait, per topic."""

    counts: dict[str, TimerCount] = wire("timingCount", make=dict)
    data_version: DataVersion | None = wire("dataVersion", None)


@dataclass(frozen=True, slots=True)
class ConsumeQueueEntry:
    log_offset: int = wire("physicOffset", 0)
    size: Int32 = wire("physicSize", 0)
    tags_code: int = wire("tagsCode", 0)
    matches: bool = wire("eval", False)
    message: str | None = wire("msg", None)
    bit_map: str | None = wire("bitMap", None)
    extension: str | None = wire("extendDataJson", None)


@dataclass(frozen=True, slots=True)
class QueryConsumeQueueAnswer:
    entries: list[ConsumeQueueEntry] | None = wire("queueData", None)
    min_index: int = wire("minQueueIndex", 0)
    max_index: int = wire("maxQueueIndex", 0)
    subscription: SubscriptionData | None = wire("subscriptionData", None)
    filter_data: str | None = wire("filterData", None)


@dataclass(frozen=True, slots=True)
class RocksCheck:
    result: str | None = wire("checkResult", None)
    status: Int32 = wire("checkStatus", 0)  # 0 ok, 1 not ok, 2 in progress, 3 error


# What clients report about themselves.


@dataclass(frozen=True, slots=True)
class QueueProgress:
    """One queue inside a push or pull consumer (ProcessQueueInfo)."""

    commit_offset: int = wire("commitOffset", 0)
    cached_min_offset: int = wire("cachedMsgMinOffset", 0)
    cached_max_offset: int = wire("cachedMsgMaxOffset", 0)
    cached_count: Int32 = wire("cachedMsgCount", 0)
    cached_mib: Int32 = wire("cachedMsgSizeInMiB", 0)
    transaction_min_offset: int = wire("transactionMsgMinOffset", 0)
    transaction_max_offset: int = wire("transactionMsgMaxOffset", 0)
    transaction_count: Int32 = wire("transactionMsgCount", 0)
    locked: bool = wire("locked", False)
    unlock_try_count: int = wire("tryUnlockTimes", 0)
    last_lock_ms: int = wire("lastLockTimestamp", 0)
    dropped: bool = wire("droped", False)
    last_pull_ms: int = wire("lastPullTimestamp", 0)
    last_consume_ms: int = wire("lastConsumeTimestamp", 0)


@dataclass(frozen=True, slots=True)
class PopProgress:
    wait_ack_count: Int32 = wire("waitAckCount", 0)
    dropped: bool = wire("droped", False)
    last_pop_ms: int = wire("lastPopTimestamp", 0)


@dataclass(frozen=True, slots=True)
class ConsumeSpeed:
    """Means of one topic over the last minute; times are milliseconds (ConsumeStatus)."""

    pull_ms: float = wire("pullRT", 0.0)
    pull_tps: float = wire("pullTPS", 0.0)
    consume_ms: float = wire("consumeRT", 0.0)
    consume_ok_tps: float = wire("consumeOKTPS", 0.0)
    consume_failed_tps: float = wire("consumeFailedTPS", 0.0)
    consume_failed_count: int = wire("consumeFailedMsgs", 0)


@dataclass(frozen=True, slots=True)
class ConsumerRunningInfo:
    properties: dict[str, str] = wire("properties", make=dict)
    subscriptions: list[SubscriptionData] = wire("subscriptionSet", make=list)
    queues: dict[MessageQueue, QueueProgress] = wire("mqTable", make=dict)
    pop_queues: dict[MessageQueue, PopProgress] = wire("mqPopTable", make=dict)
    speeds: dict[str, ConsumeSpeed] = wire("statusTable", make=dict)
    user_info: dict[str, str] = wire("userConsumerInfo", make=dict)
    stacks: str | None = wire("jstack", None)


@dataclass(frozen=True, slots=True)
class DirectConsumption:
    """How a message fared that a tool had consumed directly (ConsumeMessageDirectlyResult)."""

    order: bool = wire("order", False)
    auto_commit: bool = wire("autoCommit", True)
    result: ConsumeResult | None = wire("consumeResult", None)
    remark: str | None = wire("remark", None)
    spent_ms: int = wire("spentTimeMills", 0)


# Replicas.


@dataclass(frozen=True, slots=True)
class HAConnection:
    address: str | None = wire("addr", None)
    slave_ack_offset: int = wire("slaveAckOffset", 0)
    diff: int = wire("diff", 0)
    in_sync: bool = wire("inSync", False)
    bytes_per_second: int = wire("transferredByteInSecond", 0)
    transfer_from: int = wire("transferFromWhere", 0)


@dataclass(frozen=True, slots=True)
class HAClient:
    master_address: str | None = wire("masterAddr", None)
    bytes_per_second: int = wire("transferredByteInSecond", 0)
    max_offset: int = wire("maxOffset", 0)
    last_read_ms: int = wire("lastReadTimestamp", 0)
    last_write_ms: int = wire("lastWriteTimestamp", 0)
    master_flush_offset: int = wire("masterFlushOffset", 0)


@dataclass(frozen=True, slots=True)
class HARuntimeInfo:
    master: bool = wire("master", False)
    log_offset_max: int = wire("masterCommitLogMaxOffset", 0)
    in_sync_count: Int32 = wire("inSyncSlaveNums", 0)
    connections: list[HAConnection] = wire("haConnectionInfo", make=list)
    client: HAClient = wire("haClientRuntimeInfo", make=HAClient)
