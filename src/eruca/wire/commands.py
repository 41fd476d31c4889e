# SPDX-License-Identifier: Apache-2.0
"""The headers of requests and of their answers, one dataclass each.

A request's docstring names its codes; the fields of its answer are in the class called the same
with `Answer` behind. Codes that are not named here have no fields, only a body (bodies.py,
reports.py), or nothing at all. Field names of the wire end here.

`to_broker` is the name of the broker that the sender believes to talk to. Brokers do not look at
it; a proxy refuses requests without it.
"""

from dataclasses import dataclass

from eruca.wire.fields import Int32, wire

# Name servers.


@dataclass(frozen=True, slots=True)
class PutKVConfig:
    """PUT_KV_CONFIG"""

    namespace: str = wire("namespace")
    key: str = wire("key")
    value: str = wire("value")


@dataclass(frozen=True, slots=True)
class GetKVConfig:
    """GET_KV_CONFIG"""

    namespace: str = wire("namespace")
    key: str = wire("key")


@dataclass(frozen=True, slots=True)
class GetKVConfigAnswer:
    value: str | None = wire("value", None)


@dataclass(frozen=True, slots=True)
class DeleteKVConfig:
    """DELETE_KV_CONFIG"""

    namespace: str = wire("namespace")
    key: str = wire("key")


@dataclass(frozen=True, slots=True)
class RegisterBroker:
    """REGISTER_BROKER"""

    broker_name: str = wire("brokerName")
    broker_address: str = wire("brokerAddr")
    cluster: str = wire("clusterName")
    ha_address: str = wire("haServerAddr")
    broker_id: int = wire("brokerId")
    heartbeat_timeout_ms: int | None = wire("heartbeatTimeoutMillis", None)
    acting_master: bool | None = wire("enableActingMaster", None)
    compressed: bool = wire("compressed", False)
    body_crc: Int32 | None = wire("bodyCrc32", None)
    zone: str | None = wire("__ZONE_NAME", None)


@dataclass(frozen=True, slots=True)
class RegisterBrokerAnswer:
    ha_address: str | None = wire("haServerAddr", None)
    master_address: str | None = wire("masterAddr", None)


@dataclass(frozen=True, slots=True)
class UnregisterBroker:
    """UNREGISTER_BROKER"""

    broker_name: str = wire("brokerName")
    broker_address: str = wire("brokerAddr")
    cluster: str = wire("clusterName")
    broker_id: int = wire("brokerId")


@dataclass(frozen=True, slots=True)
class GetRouteInfo:
    """GET_ROUTEINFO_BY_TOPIC"""

    topic: str = wire("topic")
    standard_json_only: bool | None = wire("acceptStandardJsonOnly", None)
    zone: str | None = wire("__ZONE_NAME", None)
    zone_mode: bool | None = wire("__ZONE_MODE", None)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class WipeWritePerm:
    """WIPE_WRITE_PERM_OF_BROKER"""

    broker_name: str = wire("brokerName")


@dataclass(frozen=True, slots=True)
class WipeWritePermAnswer:
    topic_count: Int32 = wire("wipeTopicCount")


@dataclass(frozen=True, slots=True)
class DeleteTopicInNameServer:
    """DELETE_TOPIC_IN_NAMESRV"""

    topic: str = wire("topic")
    cluster: str | None = wire("clusterName", None)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class RegisterTopic:
    """REGISTER_TOPIC_IN_NAMESRV"""

    topic: str = wire("topic")
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class GetKVList:
    """GET_KVLIST_BY_NAMESPACE"""

    namespace: str = wire("namespace")


@dataclass(frozen=True, slots=True)
class GetTopicsByCluster:
    """GET_TOPICS_BY_CLUSTER"""

    cluster: str = wire("cluster")


@dataclass(frozen=True, slots=True)
class QueryDataVersion:
    """QUERY_DATA_VERSION"""

    broker_name: str = wire("brokerName")
    broker_address: str = wire("brokerAddr")
    cluster: str = wire("clusterName")
    broker_id: int = wire("brokerId")


@dataclass(frozen=True, slots=True)
class QueryDataVersionAnswer:
    changed: bool = wire("changed")


@dataclass(frozen=True, slots=True)
class AddWritePerm:
    """ADD_WRITE_PERM_OF_BROKER"""

    broker_name: str = wire("brokerName")


@dataclass(frozen=True, slots=True)
class AddWritePermAnswer:
    topic_count: Int32 = wire("addTopicCount")


@dataclass(frozen=True, slots=True)
class GetBrokerMemberGroup:
    """GET_BROKER_MEMBER_GROUP"""

    cluster: str = wire("clusterName")
    broker_name: str = wire("brokerName")


@dataclass(frozen=True, slots=True)
class BrokerHeartbeat:
    """BROKER_HEARTBEAT"""

    cluster: str = wire("clusterName")
    broker_address: str = wire("brokerAddr")
    broker_name: str = wire("brokerName")
    broker_id: int | None = wire("brokerId", None)
    epoch: Int32 | None = wire("epoch", None)
    max_offset: int | None = wire("maxOffset", None)
    confirm_offset: int | None = wire("confirmOffset", None)
    heartbeat_timeout_ms: int | None = wire("heartbeatTimeoutMills", None)
    election_priority: Int32 | None = wire("electionPriority", None)


# Sending, fetching, offsets, membership.


@dataclass(frozen=True, slots=True)
class SendMessage:
    """SEND_MESSAGE, SEND_REPLY_MESSAGE"""

    producer_group: str = wire("producerGroup")
    topic: str = wire("topic")
    default_topic: str = wire("defaultTopic")
    default_queue_count: Int32 = wire("defaultTopicQueueNums")
    queue_id: Int32 = wire("queueId")
    sys_flag: Int32 = wire("sysFlag")
    born_ms: int = wire("bornTimestamp")
    flag: Int32 = wire("flag")
    properties: str | None = wire("properties", None)
    reconsume_count: Int32 | None = wire("reconsumeTimes", None)
    unit_mode: bool | None = wire("unitMode", None)
    batch: bool | None = wire("batch", None)
    reconsume_count_max: Int32 | None = wire("maxReconsumeTimes", None)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class SendMessageAnswer:
    message_id: str = wire("msgId")
    queue_id: Int32 = wire("queueId")
    queue_offset: int = wire("queueOffset")
    transaction_id: str | None = wire("transactionId", None)
    batch_id: str | None = wire("batchUniqId", None)
    recall_handle: str | None = wire("recallHandle", None)
    region: str | None = wire("MSG_REGION", None)
    trace_on: bool | None = wire("TRACE_ON", None)


@dataclass(frozen=True, slots=True)
class SendMessageV2:
    """SEND_MESSAGE_V2, SEND_BATCH_MESSAGE, SEND_REPLY_MESSAGE_V2"""

    producer_group: str = wire("a")
    topic: str = wire("b")
    default_topic: str = wire("c")
    default_queue_count: Int32 = wire("d")
    queue_id: Int32 = wire("e")
    sys_flag: Int32 = wire("f")
    born_ms: int = wire("g")
    flag: Int32 = wire("h")
    properties: str | None = wire("i", None)
    reconsume_count: Int32 | None = wire("j", None)
    unit_mode: bool | None = wire("k", None)
    reconsume_count_max: Int32 | None = wire("l", None)
    batch: bool | None = wire("m", None)
    to_broker: str | None = wire("n", None)


@dataclass(frozen=True, slots=True)
class SendBack:
    """CONSUMER_SEND_MSG_BACK"""

    log_offset: int = wire("offset")
    group: str = wire("group")
    delay_level: Int32 = wire("delayLevel")
    origin_message_id: str | None = wire("originMsgId", None)
    origin_topic: str | None = wire("originTopic", None)
    unit_mode: bool = wire("unitMode", False)
    reconsume_count_max: Int32 | None = wire("maxReconsumeTimes", None)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class EndTransaction:
    """END_TRANSACTION"""

    producer_group: str = wire("producerGroup")
    half_queue_offset: int = wire("tranStateTableOffset")
    log_offset: int = wire("commitLogOffset")
    commit_or_rollback: Int32 = wire("commitOrRollback")
    message_id: str = wire("msgId")
    topic: str | None = wire("topic", None)
    from_check: bool | None = wire("fromTransactionCheck", None)
    transaction_id: str | None = wire("transactionId", None)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class PullMessage:
    """PULL_MESSAGE, LITE_PULL_MESSAGE"""

    group: str = wire("consumerGroup")
    topic: str = wire("topic")
    queue_id: Int32 = wire("queueId")
    queue_offset: int = wire("queueOffset")
    count_max: Int32 = wire("maxMsgNums")
    sys_flag: Int32 = wire("sysFlag")
    commit_offset: int = wire("commitOffset")
    wait_ms: int = wire("suspendTimeoutMillis")
    subscription_version: int = wire("subVersion")
    lite_topic: str | None = wire("liteTopic", None)
    subscription: str | None = wire("subscription", None)
    expression_type: str | None = wire("expressionType", None)
    size_max: Int32 | None = wire("maxMsgBytes", None)
    request_source: Int32 | None = wire("requestSource", None)
    proxy_client_id: str | None = wire("proxyFrowardClientId", None)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class PullMessageAnswer:
    suggested_broker_id: int = wire("suggestWhichBrokerId")
    next_offset: int = wire("nextBeginOffset")
    min_offset: int = wire("minOffset")
    max_offset: int = wire("maxOffset")
    offset_delta: int | None = wire("offsetDelta", None)
    topic_sys_flag: Int32 | None = wire("topicSysFlag", None)
    group_sys_flag: Int32 | None = wire("groupSysFlag", None)
    forbidden_type: Int32 | None = wire("forbiddenType", None)


@dataclass(frozen=True, slots=True)
class QueryMessage:
    """QUERY_MESSAGE"""

    topic: str = wire("topic")
    key: str = wire("key")
    count_max: Int32 = wire("maxNum")
    begin_ms: int = wire("beginTimestamp")
    end_ms: int = wire("endTimestamp")
    index_type: str | None = wire("indexType", None)
    last_key: str | None = wire("lastKey", None)
    unique_key: bool | None = wire("_UNIQUE_KEY_QUERY", None)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class QueryMessageAnswer:
    index_updated_ms: int = wire("indexLastUpdateTimestamp")
    index_log_offset: int = wire("indexLastUpdatePhyoffset")


@dataclass(frozen=True, slots=True)
class ViewMessage:
    """VIEW_MESSAGE_BY_ID"""

    log_offset: int = wire("offset")
    topic: str | None = wire("topic", None)


@dataclass(frozen=True, slots=True)
class QueryConsumerOffset:
    """QUERY_CONSUMER_OFFSET"""

    group: str = wire("consumerGroup")
    topic: str = wire("topic")
    queue_id: Int32 = wire("queueId")
    zero_if_missing: bool | None = wire("setZeroIfNotFound", None)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class QueryConsumerOffsetAnswer:
    offset: int = wire("offset")


@dataclass(frozen=True, slots=True)
class UpdateConsumerOffset:
    """UPDATE_CONSUMER_OFFSET"""

    group: str = wire("consumerGroup")
    topic: str = wire("topic")
    queue_id: Int32 = wire("queueId")
    offset: int = wire("commitOffset")
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class GetMaxOffset:
    """GET_MAX_OFFSET"""

    topic: str = wire("topic")
    queue_id: Int32 = wire("queueId")
    committed: bool = wire("committed", True)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class GetMaxOffsetAnswer:
    offset: int = wire("offset")


@dataclass(frozen=True, slots=True)
class GetMinOffset:
    """GET_MIN_OFFSET"""

    topic: str = wire("topic")
    queue_id: Int32 = wire("queueId")
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class GetMinOffsetAnswer:
    offset: int = wire("offset")


@dataclass(frozen=True, slots=True)
class SearchOffset:
    """SEARCH_OFFSET_BY_TIMESTAMP"""

    topic: str = wire("topic")
    queue_id: Int32 = wire("queueId")
    timestamp_ms: int = wire("timestamp")
    lite_topic: str | None = wire("liteTopic", None)
    boundary: str | None = wire("boundaryType", None)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class SearchOffsetAnswer:
    offset: int = wire("offset")


@dataclass(frozen=True, slots=True)
class GetEarliestStoreTime:
    """GET_EARLIEST_MSG_STORETIME"""

    topic: str = wire("topic")
    queue_id: Int32 = wire("queueId")
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class GetEarliestStoreTimeAnswer:
    timestamp_ms: int = wire("timestamp")


@dataclass(frozen=True, slots=True)
class UnregisterClient:
    """UNREGISTER_CLIENT"""

    client_id: str = wire("clientID")
    producer_group: str | None = wire("producerGroup", None)
    group: str | None = wire("consumerGroup", None)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class GetConsumerList:
    """GET_CONSUMER_LIST_BY_GROUP"""

    group: str = wire("consumerGroup")
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class RecallMessage:
    """RECALL_MESSAGE"""

    topic: str = wire("topic")
    recall_handle: str = wire("recallHandle")
    producer_group: str | None = wire("producerGroup", None)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class RecallMessageAnswer:
    message_id: str = wire("msgId")
    region: str | None = wire("MSG_REGION", None)


@dataclass(frozen=True, slots=True)
class PopMessage:
    """POP_MESSAGE"""

    group: str = wire("consumerGroup")
    topic: str = wire("topic")
    queue_id: Int32 = wire("queueId")
    count_max: Int32 = wire("maxMsgNums")
    invisible_ms: int = wire("invisibleTime")
    wait_ms: int = wire("pollTime")
    born_ms: int = wire("bornTime")
    init_mode: Int32 = wire("initMode")
    expression_type: str | None = wire("expType", None)
    expression: str | None = wire("exp", None)
    order: bool | None = wire("order", None)
    attempt_id: str | None = wire("attemptId", None)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class PopMessageAnswer:
    pop_ms: int = wire("popTime")
    invisible_ms: int = wire("invisibleTime")
    revive_queue_id: Int32 = wire("reviveQid")
    rest_count: int = wire("restNum")
    start_offset_info: str | None = wire("startOffsetInfo", None)
    message_offset_info: str | None = wire("msgOffsetInfo", None)
    order_count_info: str | None = wire("orderCountInfo", None)


@dataclass(frozen=True, slots=True)
class AckMessage:
    """ACK_MESSAGE"""

    group: str = wire("consumerGroup")
    topic: str = wire("topic")
    queue_id: Int32 = wire("queueId")
    extra_info: str = wire("extraInfo")
    offset: int = wire("offset")
    lite_topic: str | None = wire("liteTopic", None)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class ChangeInvisibleTime:
    """CHANGE_MESSAGE_INVISIBLETIME"""

    group: str = wire("consumerGroup")
    topic: str = wire("topic")
    queue_id: Int32 = wire("queueId")
    extra_info: str = wire("extraInfo")
    offset: int = wire("offset")
    invisible_ms: int = wire("invisibleTime")
    lite_topic: str | None = wire("liteTopic", None)
    suspend: bool = wire("suspend", False)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class ChangeInvisibleTimeAnswer:
    pop_ms: int = wire("popTime")
    invisible_ms: int = wire("invisibleTime")
    revive_queue_id: Int32 = wire("reviveQid")


@dataclass(frozen=True, slots=True)
class PeekMessage:
    """PEEK_MESSAGE"""

    topic: str = wire("topic")
    queue_id: Int32 = wire("queueId")
    count_max: Int32 = wire("maxMsgNums")
    group: str = wire("consumerGroup")
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class Notification:
    """NOTIFICATION"""

    group: str = wire("consumerGroup")
    topic: str = wire("topic")
    queue_id: Int32 = wire("queueId")
    wait_ms: int = wire("pollTime")
    born_ms: int = wire("bornTime")
    order: bool | None = wire("order", None)
    attempt_id: str | None = wire("attemptId", None)
    expression_type: str | None = wire("expType", None)
    expression: str | None = wire("exp", None)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class NotificationAnswer:
    has_message: bool = wire("hasMsg")
    polling_full: bool = wire("pollingFull", False)


@dataclass(frozen=True, slots=True)
class PollingInfo:
    """POLLING_INFO"""

    group: str = wire("consumerGroup")
    topic: str = wire("topic")
    queue_id: Int32 = wire("queueId")
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class PollingInfoAnswer:
    polling_count: Int32 = wire("pollingNum")


@dataclass(frozen=True, slots=True)
class HeartbeatAnswer:
    """HEART_BEAT; the request is only a body."""

    supports_v2: bool = wire("IS_SUPPORT_HEART_BEAT_V2", False)
    subscriptions_changed: bool = wire("IS_SUB_CHANGE", False)


# From a broker to its clients.


@dataclass(frozen=True, slots=True)
class CheckTransactionState:
    """CHECK_TRANSACTION_STATE"""

    half_queue_offset: int = wire("tranStateTableOffset")
    log_offset: int = wire("commitLogOffset")
    topic: str | None = wire("topic", None)
    message_id: str | None = wire("msgId", None)
    transaction_id: str | None = wire("transactionId", None)
    offset_message_id: str | None = wire("offsetMsgId", None)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class NotifyConsumerIdsChanged:
    """NOTIFY_CONSUMER_IDS_CHANGED"""

    group: str = wire("consumerGroup")
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class ResetOffset:
    """RESET_CONSUMER_CLIENT_OFFSET, INVOKE_BROKER_TO_RESET_OFFSET"""

    group: str = wire("group")
    topic: str = wire("topic")
    timestamp_ms: int = wire("timestamp")
    force: bool = wire("isForce")
    queue_id: Int32 = wire("queueId", -1)
    offset: int | None = wire("offset", None)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class GetConsumerStatus:
    """GET_CONSUMER_STATUS_FROM_CLIENT, INVOKE_BROKER_TO_GET_CONSUMER_STATUS"""

    topic: str = wire("topic")
    group: str = wire("group")
    client_address: str | None = wire("clientAddr", None)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class GetConsumerRunningInfo:
    """GET_CONSUMER_RUNNING_INFO"""

    group: str = wire("consumerGroup")
    client_id: str = wire("clientId")
    with_stacks: bool = wire("jstackEnable", False)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class ConsumeDirectly:
    """CONSUME_MESSAGE_DIRECTLY"""

    group: str = wire("consumerGroup")
    client_id: str | None = wire("clientId", None)
    message_id: str | None = wire("msgId", None)
    broker_name: str | None = wire("brokerName", None)
    topic: str | None = wire("topic", None)
    topic_sys_flag: Int32 | None = wire("topicSysFlag", None)
    group_sys_flag: Int32 | None = wire("groupSysFlag", None)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class PushReply:
    """PUSH_REPLY_MESSAGE_TO_CLIENT"""

    producer_group: str = wire("producerGroup")
    topic: str = wire("topic")
    default_topic: str = wire("defaultTopic")
    default_queue_count: Int32 = wire("defaultTopicQueueNums")
    queue_id: Int32 = wire("queueId")
    sys_flag: Int32 = wire("sysFlag")
    born_ms: int = wire("bornTimestamp")
    flag: Int32 = wire("flag")
    born_host: str = wire("bornHost")
    store_host: str = wire("storeHost")
    stored_ms: int = wire("storeTimestamp")
    properties: str | None = wire("properties", None)
    reconsume_count: Int32 | None = wire("reconsumeTimes", None)
    unit_mode: bool = wire("unitMode", False)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class NotifyUnsubscribeLite:
    """NOTIFY_UNSUBSCRIBE_LITE"""

    lite_topic: str = wire("liteTopic")
    group: str = wire("consumerGroup")
    client_id: str = wire("clientId")
    to_broker: str | None = wire("bname", None)


# Administration of a broker.


@dataclass(frozen=True, slots=True)
class CreateTopic:
    """UPDATE_AND_CREATE_TOPIC, UPDATE_AND_CREATE_STATIC_TOPIC"""

    topic: str = wire("topic")
    default_topic: str = wire("defaultTopic")
    read_queue_count: Int32 = wire("readQueueNums")
    write_queue_count: Int32 = wire("writeQueueNums")
    perm: Int32 = wire("perm")
    filter_type: str = wire("topicFilterType")
    order: bool = wire("order")
    sys_flag: Int32 | None = wire("topicSysFlag", None)
    attributes: str | None = wire("attributes", None)
    force: bool | None = wire("force", None)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class DeleteTopic:
    """DELETE_TOPIC_IN_BROKER"""

    topic: str = wire("topic")
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class GetAllTopicConfig:
    """GET_ALL_TOPIC_CONFIG"""

    topic_seq: Int32 | None = wire("topicSeq", None)
    data_version: str | None = wire("dataVersion", None)
    topic_count_max: Int32 | None = wire("maxTopicNum", None)


@dataclass(frozen=True, slots=True)
class GetAllTopicConfigAnswer:
    topic_count: Int32 | None = wire("totalTopicNum", None)


@dataclass(frozen=True, slots=True)
class GetTopicConfig:
    """GET_TOPIC_CONFIG"""

    topic: str = wire("topic")
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class GetBrokerConfigAnswer:
    version: str = wire("version")


@dataclass(frozen=True, slots=True)
class GetAllGroupConfig:
    """GET_ALL_SUBSCRIPTIONGROUP_CONFIG"""

    group_seq: Int32 | None = wire("groupSeq", None)
    data_version: str | None = wire("dataVersion", None)
    group_count_max: Int32 | None = wire("maxGroupNum", None)


@dataclass(frozen=True, slots=True)
class GetAllGroupConfigAnswer:
    group_count: Int32 = wire("totalGroupNum")


@dataclass(frozen=True, slots=True)
class GetGroupConfig:
    """GET_SUBSCRIPTIONGROUP_CONFIG"""

    group: str = wire("group")
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class DeleteGroup:
    """DELETE_SUBSCRIPTIONGROUP"""

    group: str = wire("groupName")
    clean_offsets: bool = wire("cleanOffset", False)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class UpdateGroupForbidden:
    """UPDATE_AND_GET_GROUP_FORBIDDEN"""

    group: str = wire("group")
    topic: str = wire("topic")
    readable: bool | None = wire("readable", None)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class GetTopicStats:
    """GET_TOPIC_STATS_INFO"""

    topic: str = wire("topic")
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class GetConsumerConnections:
    """GET_CONSUMER_CONNECTION_LIST"""

    group: str = wire("consumerGroup")
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class GetProducerConnections:
    """GET_PRODUCER_CONNECTION_LIST"""

    producer_group: str = wire("producerGroup")
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class GetConsumeStats:
    """GET_CONSUME_STATS"""

    group: str = wire("consumerGroup")
    topic: str | None = wire("topic", None)
    topics: str | None = wire("topicList", None)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class GetBrokerConsumeStats:
    """GET_BROKER_CONSUME_STATS"""

    ordered: bool = wire("isOrder")


@dataclass(frozen=True, slots=True)
class QueryTopicGroups:
    """QUERY_TOPIC_CONSUME_BY_WHO"""

    topic: str = wire("topic")
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class QueryTopicsByConsumer:
    """QUERY_TOPICS_BY_CONSUMER"""

    group: str = wire("group")
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class QuerySubscriptionByConsumer:
    """QUERY_SUBSCRIPTION_BY_CONSUMER"""

    group: str = wire("group")
    topic: str | None = wire("topic", None)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class QueryConsumeTimeSpan:
    """QUERY_CONSUME_TIME_SPAN"""

    topic: str = wire("topic")
    group: str = wire("group")
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class QueryCorrectionOffset:
    """QUERY_CORRECTION_OFFSET"""

    compare_group: str = wire("compareGroup")
    topic: str = wire("topic")
    filter_groups: str | None = wire("filterGroups", None)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class CloneGroupOffset:
    """CLONE_GROUP_OFFSET"""

    source_group: str = wire("srcGroup")
    target_group: str = wire("destGroup")
    topic: str | None = wire("topic", None)
    offline: bool = wire("offline", False)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class ViewBrokerStatsData:
    """VIEW_BROKER_STATS_DATA"""

    stats_name: str = wire("statsName")
    stats_key: str = wire("statsKey")


@dataclass(frozen=True, slots=True)
class QueryConsumeQueue:
    """QUERY_CONSUME_QUEUE"""

    topic: str | None = wire("topic", None)
    queue_id: Int32 = wire("queueId", 0)
    index: int = wire("index", 0)
    count: Int32 = wire("count", 0)
    group: str | None = wire("consumerGroup", None)
    to_broker: str | None = wire("bname", None)


@dataclass(frozen=True, slots=True)
class ResumeCheckHalfMessage:
    """RESUME_CHECK_HALF_MESSAGE"""

    topic: str | None = wire("topic", None)
    message_id: str | None = wire("msgId", None)


@dataclass(frozen=True, slots=True)
class CheckRocksWriteProgress:
    """CHECK_ROCKSDB_CQ_WRITE_PROGRESS"""

    topic: str = wire("topic")
    check_store_ms: int = wire("checkStoreTime", 0)


@dataclass(frozen=True, slots=True)
class ExportRocksConfig:
    """EXPORT_ROCKSDB_CONFIG_TO_JSON"""

    config_type: str = wire("configType")


@dataclass(frozen=True, slots=True)
class NotifyMinBrokerIdChange:
    """NOTIFY_MIN_BROKER_ID_CHANGE"""

    min_broker_id: int | None = wire("minBrokerId", None)
    broker_name: str | None = wire("brokerName", None)
    min_broker_address: str | None = wire("minBrokerAddr", None)
    offline_broker_address: str | None = wire("offlineBrokerAddr", None)
    ha_address: str | None = wire("haBrokerAddr", None)


@dataclass(frozen=True, slots=True)
class ExchangeHAInfo:
    """EXCHANGE_BROKER_HA_INFO"""

    master_ha_address: str | None = wire("masterHaAddress", None)
    master_flush_offset: int | None = wire("masterFlushOffset", None)
    master_address: str | None = wire("masterAddress", None)


@dataclass(frozen=True, slots=True)
class ExchangeHAInfoAnswer:
    master_ha_address: str | None = wire("masterHaAddress", None)
    master_flush_offset: int | None = wire("masterFlushOffset", None)
    master_address: str | None = wire("masterAddress", None)


@dataclass(frozen=True, slots=True)
class ResetMasterFlushOffset:
    """RESET_MASTER_FLUSH_OFFSET"""

    master_flush_offset: int = wire("masterFlushOffset")


@dataclass(frozen=True, slots=True)
class SwitchTimerEngine:
    """SWITCH_TIMER_ENGINE"""

    engine: str = wire("E_T")  # R: rocksdb timeline, F: file time wheel


@dataclass(frozen=True, slots=True)
class SetReadMode:
    """SET_COMMITLOG_READ_MODE"""

    mode: Int32 = wire("READ_AHEAD_MODE")  # 0 normal, 1 random
