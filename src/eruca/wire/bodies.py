# SPDX-License-Identifier: Apache-2.0
"""The JSON bodies that keep a cluster going: topics, groups, routes, heartbeats, locks.

Eruca's names on the left, Java's in `wire(...)`, Java's defaults. Static-topic mappings are kept
as the JSON they came in. A set in Java is a list here: its order means nothing, but it is kept.
What tools ask for (statistics, offsets, reports of clients) is in reports.py; the compressed
registration is in registration.py.

    route = from_json(TopicRouteData, javajson.loads(body))
    body = javajson.dumps(to_json(route))
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from eruca.wire.codes import Language
from eruca.wire.fields import Int32, MessageQueue, wire

PERM_PRIORITY: Final = 8
PERM_READ: Final = 4
PERM_WRITE: Final = 2
PERM_INHERIT: Final = 1

RETRY_DELAYS_MS: Final = (
    1000, 5000, 10_000, 30_000, 60_000, 120_000, 180_000, 240_000, 300_000, 360_000, 420_000,
    480_000, 540_000, 600_000, 1_200_000, 1_800_000, 3_600_000, 7_200_000,
)  # fmt: skip


class ConsumeType(Enum):
    """How a group fetches. The order of these enums is Java's: ordinals may be sent."""

    CONSUME_ACTIVELY = "pull"
    CONSUME_PASSIVELY = "push"
    CONSUME_POP = "pop"


class MessageModel(Enum):
    """Whether every member of a group gets every message, or they share them."""

    BROADCASTING = "broadcasting"
    CLUSTERING = "clustering"
    LITE_SELECTIVE = "lite"


class ConsumeFrom(Enum):
    """Where a group begins on a queue of which it has no offset yet."""

    CONSUME_FROM_LAST_OFFSET = 0
    CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST = 1
    CONSUME_FROM_MIN_OFFSET = 2
    CONSUME_FROM_MAX_OFFSET = 3
    CONSUME_FROM_FIRST_OFFSET = 4
    CONSUME_FROM_TIMESTAMP = 5


class RequestMode(Enum):
    """How the members of a group get the messages of a topic."""

    PULL = "pull"
    POP = "pop"


# Topics, groups, and how their tables travel between brokers and name servers.


@dataclass(frozen=True, slots=True)
class DataVersion:
    """Tells two states of a table apart: equal only when all three numbers are."""

    state_version: int = wire("stateVersion", 0)
    timestamp: int = wire("timestamp", 0)
    counter: int = wire("counter", 0)

    def next(self, now_ms: int, state_version: int = 0) -> "DataVersion":
        """The version after one more change."""
        return DataVersion(state_version, now_ms, self.counter + 1)


@dataclass(slots=True)
class TopicConfig:
    name: str = wire("topicName")
    read_queue_count: Int32 = wire("readQueueNums", 16)
    write_queue_count: Int32 = wire("writeQueueNums", 16)
    perm: Int32 = wire("perm", PERM_READ | PERM_WRITE)
    filter_type: str = wire("topicFilterType", "SINGLE_TAG")  # or MULTI_TAG
    sys_flag: Int32 = wire("topicSysFlag", 0)
    order: bool = wire("order", False)
    attributes: dict[str, str] = wire("attributes", make=dict)
    mapping: object = wire("mappingDetail", None)  # only in the answer about one static topic


@dataclass(slots=True)
class TopicTable:
    """All topics of a broker (TopicConfigAndMappingSerializeWrapper); old ones send two parts."""

    topics: dict[str, TopicConfig] = wire("topicConfigTable", make=dict)
    data_version: DataVersion = wire("dataVersion", make=DataVersion)
    mapping_version: DataVersion | None = wire("mappingDataVersion", None)
    mapping_details: dict[str, object] | None = wire("topicQueueMappingDetailMap", None)
    mapping_infos: dict[str, object] | None = wire("topicQueueMappingInfoMap", None)


@dataclass(frozen=True, slots=True)
class TopicConfigs:
    topics: list[TopicConfig] = wire("topicConfigList", make=list)


@dataclass(slots=True)
class RegisterBrokerBody:
    """What a broker tells a name server; see registration.py."""

    topics: TopicTable = wire("topicConfigSerializeWrapper", make=TopicTable)
    filter_servers: list[str] = wire("filterServerList", make=list)


@dataclass(frozen=True, slots=True)
class CustomizedRetry:
    next_ms: list[int] = wire("next", make=lambda: list(RETRY_DELAYS_MS))


@dataclass(frozen=True, slots=True)
class ExponentialRetry:
    initial_ms: int = wire("initial", 5000)
    max_ms: int = wire("max", 7_200_000)
    multiplier: int = wire("multiplier", 2)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    type: str = wire("type", "CUSTOMIZED")  # or EXPONENTIAL
    customized: CustomizedRetry | None = wire("customizedRetryPolicy", None)
    exponential: ExponentialRetry | None = wire("exponentialRetryPolicy", None)


@dataclass(frozen=True, slots=True)
class SimpleSubscription:
    topic: str = wire("topic")
    expression_type: str | None = wire("expressionType", None)
    expression: str | None = wire("expression", None)
    version: int = wire("version", 0)


@dataclass(slots=True)
class GroupConfig:
    """Settings of one consumer group (SubscriptionGroupConfig)."""

    name: str = wire("groupName")
    consume_enable: bool = wire("consumeEnable", True)
    consume_from_min_enable: bool = wire("consumeFromMinEnable", True)
    consume_broadcast_enable: bool = wire("consumeBroadcastEnable", True)
    orderly: bool = wire("consumeMessageOrderly", False)
    retry_queue_count: Int32 = wire("retryQueueNums", 1)
    retry_count_max: Int32 = wire("retryMaxTimes", 16)
    retry_policy: RetryPolicy = wire("groupRetryPolicy", make=RetryPolicy)
    broker_id: int = wire("brokerId", 0)
    broker_id_when_slow: int = wire("whichBrokerWhenConsumeSlowly", 1)
    notify_members: bool = wire("notifyConsumerIdsChangedEnable", True)
    sys_flag: Int32 = wire("groupSysFlag", 0)
    consume_timeout_minutes: Int32 = wire("consumeTimeoutMinute", 15)
    subscriptions: list[SimpleSubscription] | None = wire("subscriptionDataSet", None)
    attributes: dict[str, str] = wire("attributes", make=dict)


@dataclass(slots=True)
class GroupTable:
    """All groups of a broker (SubscriptionGroupWrapper); forbidden: group -> topic -> bits."""

    groups: dict[str, GroupConfig] = wire("subscriptionGroupTable", make=dict)
    forbidden: dict[str, dict[str, Int32]] = wire("forbiddenTable", make=dict)
    data_version: DataVersion = wire("dataVersion", make=DataVersion)


@dataclass(frozen=True, slots=True)
class GroupConfigs:
    groups: list[GroupConfig] = wire("groupConfigList", make=list)


@dataclass(frozen=True, slots=True)
class GroupForbidden:
    group: str = wire("group")
    topic: str = wire("topic")
    readable: bool | None = wire("readable", None)


# Routes.


@dataclass(slots=True)
class QueueData:
    broker_name: str = wire("brokerName")
    read_queue_count: Int32 = wire("readQueueNums", 0)
    write_queue_count: Int32 = wire("writeQueueNums", 0)
    perm: Int32 = wire("perm", 0)
    sys_flag: Int32 = wire("topicSysFlag", 0)


@dataclass(slots=True)
class BrokerData:
    broker_name: str = wire("brokerName")
    cluster: str | None = wire("cluster", None)
    addresses: dict[int, str] = wire(
        "brokerAddrs", make=dict
    )  # broker id -> ip:port; 0 is the master
    acting_master: bool = wire("enableActingMaster", False)
    zone: str | None = wire("zoneName", None)


@dataclass(slots=True)
class TopicRouteData:
    queues: list[QueueData] = wire("queueDatas", make=list)
    brokers: list[BrokerData] = wire("brokerDatas", make=list)
    filter_servers: dict[str, list[str]] = wire("filterServerTable", make=dict)
    order_conf: str | None = wire("orderTopicConf", None)  # brokerA:4;brokerB:4
    mappings: dict[str, object] | None = wire("topicQueueMappingByBroker", None)


@dataclass(slots=True)
class ClusterInfo:
    brokers: dict[str, BrokerData] = wire("brokerAddrTable", make=dict)
    clusters: dict[str, list[str]] = wire("clusterAddrTable", make=dict)


@dataclass(slots=True)
class BrokerMemberGroup:
    cluster: str | None = wire("cluster", None)
    broker_name: str | None = wire("brokerName", None)
    addresses: dict[int, str] = wire("brokerAddrs", make=dict)


@dataclass(frozen=True, slots=True)
class MemberGroupAnswer:
    members: BrokerMemberGroup | None = wire("brokerMemberGroup", None)


@dataclass(frozen=True, slots=True)
class TopicList:
    topics: list[str] = wire("topicList", make=list)
    broker_address: str | None = wire("brokerAddr", None)


@dataclass(frozen=True, slots=True)
class GroupList:
    groups: list[str] = wire("groupList", make=list)


@dataclass(frozen=True, slots=True)
class KVTable:
    table: dict[str, str] = wire("table", make=dict)


# Clients: what they say of themselves, and what is known of them.


@dataclass(frozen=True, slots=True)
class SubscriptionData:
    topic: str = wire("topic")
    expression: str | None = wire("subString", None)  # "*", "a || b" or SQL
    tags: list[str] = wire("tagsSet", make=list)
    codes: list[Int32] = wire("codeSet", make=list)  # Java: String.hashCode of each tag
    version: int = wire("subVersion", 0)
    expression_type: str = wire("expressionType", "TAG")  # or SQL92
    class_filter: bool = wire("classFilterMode", False)


@dataclass(frozen=True, slots=True)
class ConsumerData:
    group: str = wire("groupName")
    consume_type: ConsumeType | None = wire("consumeType", None)
    message_model: MessageModel | None = wire("messageModel", None)
    consume_from: ConsumeFrom | None = wire("consumeFromWhere", None)
    subscriptions: list[SubscriptionData] = wire("subscriptionDataSet", make=list)
    unit_mode: bool = wire("unitMode", False)


@dataclass(frozen=True, slots=True)
class ProducerData:
    group: str = wire("groupName")


@dataclass(frozen=True, slots=True)
class HeartbeatData:
    client_id: str = wire("clientID")
    producers: list[ProducerData] = wire("producerDataSet", make=list)
    consumers: list[ConsumerData] = wire("consumerDataSet", make=list)
    fingerprint: Int32 = wire("heartbeatFingerprint", 0)  # 0: the first version of the heartbeat
    without_subscriptions: bool = wire("withoutSub", False)


@dataclass(frozen=True, slots=True)
class ClientCheck:
    """A subscription to try before consuming (CheckClientRequestBody)."""

    client_id: str | None = wire("clientId", None)
    group: str | None = wire("group", None)
    subscription: SubscriptionData | None = wire("subscriptionData", None)
    namespace: str | None = wire("namespace", None)


@dataclass(frozen=True, slots=True)
class ConsumerIds:
    ids: list[str] = wire("consumerIdList", make=list)


@dataclass(frozen=True, slots=True)
class Connection:
    client_id: str | None = wire("clientId", None)
    client_address: str | None = wire("clientAddr", None)
    language: Language | None = wire("language", None)
    version: Int32 = wire("version", 0)


@dataclass(frozen=True, slots=True)
class ConsumerConnection:
    connections: list[Connection] = wire("connectionSet", make=list)
    subscriptions: dict[str, SubscriptionData] = wire("subscriptionTable", make=dict)
    consume_type: ConsumeType | None = wire("consumeType", None)
    message_model: MessageModel | None = wire("messageModel", None)
    consume_from: ConsumeFrom | None = wire("consumeFromWhere", None)


@dataclass(frozen=True, slots=True)
class ProducerConnection:
    connections: list[Connection] = wire("connectionSet", make=list)


@dataclass(frozen=True, slots=True)
class ProducerInfo:
    client_id: str | None = wire("clientId", None)
    address: str | None = wire("remoteIP", None)  # Java: begins with a slash
    language: Language | None = wire("language", None)
    version: Int32 = wire("version", 0)
    last_seen_ms: int = wire("lastUpdateTimestamp", 0)


@dataclass(frozen=True, slots=True)
class ProducerTableInfo:
    groups: dict[str, list[ProducerInfo]] = wire("data", make=dict)


@dataclass(frozen=True, slots=True)
class QuerySubscriptionAnswer:
    topic: str | None = wire("topic", None)
    group: str | None = wire("group", None)
    subscription: SubscriptionData | None = wire("subscriptionData", None)


# Who reads which queue.


@dataclass(frozen=True, slots=True)
class LockBatch:
    """Queues to lock, or to unlock, for one ordered consumer."""

    group: str | None = wire("consumerGroup", None)
    client_id: str | None = wire("clientId", None)
    queues: list[MessageQueue] = wire("mqSet", make=list)
    only_this_broker: bool = wire("onlyThisBroker", False)


@dataclass(frozen=True, slots=True)
class LockBatchAnswer:
    locked: list[MessageQueue] = wire("lockOKMQSet", make=list)


@dataclass(frozen=True, slots=True)
class QueryAssignment:
    topic: str = wire("topic")
    group: str = wire("consumerGroup")
    client_id: str = wire("clientId")
    strategy: str | None = wire("strategyName", None)  # AVG, AVG_BY_CIRCLE
    message_model: MessageModel | None = wire("messageModel", None)


@dataclass(frozen=True, slots=True)
class Assignment:
    queue: MessageQueue = wire("messageQueue")
    mode: RequestMode = wire("mode", RequestMode.PULL)
    attachments: dict[str, str] | None = wire("attachments", None)


@dataclass(frozen=True, slots=True)
class QueryAssignmentAnswer:
    assignments: list[Assignment] | None = wire("messageQueueAssignments", None)


@dataclass(frozen=True, slots=True)
class GroupRequestMode:
    """Body of SET_MESSAGE_REQUEST_MODE, and the form in which it is kept."""

    topic: str = wire("topic")
    group: str = wire("consumerGroup")
    mode: RequestMode = wire("mode", RequestMode.PULL)
    pop_share_queue_count: Int32 = wire("popShareQueueNum", 0)


@dataclass(frozen=True, slots=True)
class RequestModeTable:
    """Topic -> group -> mode."""

    modes: dict[str, dict[str, GroupRequestMode]] = wire("messageRequestModeMap", make=dict)


@dataclass(frozen=True, slots=True)
class BatchAck:
    group: str = wire("c")
    topic: str = wire("t")
    retry: str | None = wire("r", None)
    start_offset: int = wire("so", 0)
    queue_id: Int32 = wire("q", 0)
    revive_queue_id: Int32 = wire("rq", 0)
    pop_ms: int = wire("pt", 0)
    invisible_ms: int = wire("it", 0)
    bits: str | None = wire("b", None)  # base64, little-endian: bit i is offset start_offset + i


@dataclass(frozen=True, slots=True)
class BatchAcks:
    broker_name: str | None = wire("brokerName", None)
    acks: list[BatchAck] = wire("acks", make=list)
