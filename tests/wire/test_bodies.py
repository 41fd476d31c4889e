# SPDX-License-Identifier: Apache-2.0
"""Every JSON body that has a dataclass: Java's text in, the same text out."""

from typing import Any

import pytest

from eruca.errors import BadField
from eruca.wire import bodies, javajson, reports
from eruca.wire.codes import RequestCode as R
from eruca.wire.codes import ResponseCode
from eruca.wire.fields import MessageQueue, from_json, to_json
from eruca.wire.header import decode_frame

from .golden import entries, exchanges, frames

SHAPES: dict[str, type[Any]] = {
    "DataVersion": bodies.DataVersion,
    "ConsumeStats": reports.ConsumeStats,
    "OffsetWrapper": reports.ConsumeOffset,
    "TopicOffset": reports.TopicOffset,
    "TopicStatsTable": reports.TopicStatsTable,
    "BatchAck": bodies.BatchAck,
    "BatchAckMessageRequestBody": bodies.BatchAcks,
    "BrokerMemberGroup": bodies.BrokerMemberGroup,
    "BrokerStatsData": reports.BrokerStatsData,
    "BrokerStatsItem": reports.BrokerStatsItem,
    "CheckClientRequestBody": bodies.ClientCheck,
    "ClusterInfo": bodies.ClusterInfo,
    "Connection": bodies.Connection,
    "ConsumeMessageDirectlyResult": reports.DirectConsumption,
    "ConsumeQueueData": reports.ConsumeQueueEntry,
    "ConsumeStatsList": reports.ConsumeStatsList,
    "ConsumeStatus": reports.ConsumeSpeed,
    "ConsumerConnection": bodies.ConsumerConnection,
    "ConsumerOffsetSerializeWrapper": reports.OffsetTable,
    "ConsumerRunningInfo": reports.ConsumerRunningInfo,
    "CreateTopicListRequestBody": bodies.TopicConfigs,
    "GetBrokerMemberGroupResponseBody": bodies.MemberGroupAnswer,
    "GetConsumerStatusBody": reports.ConsumerStatus,
    "GroupList": bodies.GroupList,
    "HARuntimeInfo": reports.HARuntimeInfo,
    "HAClientRuntimeInfo": reports.HAClient,
    "HAConnectionRuntimeInfo": reports.HAConnection,
    "KVTable": bodies.KVTable,
    "LockBatchRequestBody": bodies.LockBatch,
    "LockBatchResponseBody": bodies.LockBatchAnswer,
    "UnlockBatchRequestBody": bodies.LockBatch,
    "MessageRequestModeSerializeWrapper": bodies.RequestModeTable,
    "PopProcessQueueInfo": reports.PopProgress,
    "ProcessQueueInfo": reports.QueueProgress,
    "ProducerConnection": bodies.ProducerConnection,
    "ProducerInfo": bodies.ProducerInfo,
    "ProducerTableInfo": bodies.ProducerTableInfo,
    "QueryAssignmentRequestBody": bodies.QueryAssignment,
    "QueryAssignmentResponseBody": bodies.QueryAssignmentAnswer,
    "QueryConsumeQueueResponseBody": reports.QueryConsumeQueueAnswer,
    "QueryConsumeTimeSpanBody": reports.ConsumeTimeSpans,
    "QueryCorrectionOffsetBody": reports.CorrectionOffsets,
    "QuerySubscriptionResponseBody": bodies.QuerySubscriptionAnswer,
    "QueueTimeSpan": reports.QueueTimeSpan,
    "RegisterBrokerBody": bodies.RegisterBrokerBody,
    "ResetOffsetBody": reports.ResetOffsets,
    "ResetOffsetBodyForC": reports.ResetOffsetsForCpp,
    "SetMessageRequestModeRequestBody": bodies.GroupRequestMode,
    "SubscriptionGroupList": bodies.GroupConfigs,
    "SubscriptionGroupWrapper": bodies.GroupTable,
    "TopicConfigAndMappingSerializeWrapper": bodies.TopicTable,
    "TopicConfigSerializeWrapper": bodies.TopicTable,
    "TopicList": bodies.TopicList,
    "ConsumerData": bodies.ConsumerData,
    "HeartbeatData": bodies.HeartbeatData,
    "ProducerData": bodies.ProducerData,
    "SubscriptionData": bodies.SubscriptionData,
    "BrokerData": bodies.BrokerData,
    "QueueData": bodies.QueueData,
    "TopicRouteData": bodies.TopicRouteData,
    "TopicConfigAndQueueMapping": bodies.TopicConfig,
    "CustomizedRetryPolicy": bodies.CustomizedRetry,
    "ExponentialRetryPolicy": bodies.ExponentialRetry,
    "GroupForbidden": bodies.GroupForbidden,
    "GroupRetryPolicy": bodies.RetryPolicy,
    "SimpleSubscriptionData": bodies.SimpleSubscription,
    "SubscriptionGroupConfig": bodies.GroupConfig,
}

# The answers that travel with bodies, by request.
ANSWER_BODIES: dict[int, type[Any]] = {
    R.GET_ROUTEINFO_BY_TOPIC: bodies.TopicRouteData,
    R.GET_BROKER_CLUSTER_INFO: bodies.ClusterInfo,
    R.GET_ALL_TOPIC_LIST_FROM_NAMESERVER: bodies.TopicList,
    R.GET_SYSTEM_TOPIC_LIST_FROM_NS: bodies.TopicList,
    R.GET_SYSTEM_TOPIC_LIST_FROM_BROKER: bodies.TopicList,
    R.QUERY_TOPICS_BY_CONSUMER: bodies.TopicList,
    R.GET_KVLIST_BY_NAMESPACE: bodies.KVTable,
    R.GET_BROKER_RUNTIME_INFO: bodies.KVTable,
    R.QUERY_DATA_VERSION: bodies.DataVersion,
    R.GET_BROKER_MEMBER_GROUP: bodies.MemberGroupAnswer,
    R.GET_CONSUMER_LIST_BY_GROUP: bodies.ConsumerIds,
    R.LOCK_BATCH_MQ: bodies.LockBatchAnswer,
    R.QUERY_ASSIGNMENT: bodies.QueryAssignmentAnswer,
    R.GET_ALL_MESSAGE_REQUEST_MODE: bodies.RequestModeTable,
    R.GET_ALL_TOPIC_CONFIG: bodies.TopicTable,
    R.GET_TOPIC_CONFIG: bodies.TopicConfig,
    R.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: bodies.GroupTable,
    R.GET_SUBSCRIPTIONGROUP_CONFIG: bodies.GroupConfig,
    R.UPDATE_AND_GET_GROUP_FORBIDDEN: bodies.GroupForbidden,
    R.GET_TOPIC_STATS_INFO: reports.TopicStatsTable,
    R.GET_CONSUMER_CONNECTION_LIST: bodies.ConsumerConnection,
    R.GET_PRODUCER_CONNECTION_LIST: bodies.ProducerConnection,
    R.GET_ALL_PRODUCER_INFO: bodies.ProducerTableInfo,
    R.GET_CONSUME_STATS: reports.ConsumeStats,
    R.GET_BROKER_CONSUME_STATS: reports.ConsumeStatsList,
    R.GET_ALL_CONSUMER_OFFSET: reports.OffsetTable,
    R.GET_ALL_DELAY_OFFSET: reports.DelayOffsetTable,
    R.GET_TIMER_METRICS: reports.TimerMetrics,
    R.INVOKE_BROKER_TO_RESET_OFFSET: reports.ResetOffsets,
    R.INVOKE_BROKER_TO_GET_CONSUMER_STATUS: reports.ConsumerStatus,
    R.QUERY_TOPIC_CONSUME_BY_WHO: bodies.GroupList,
    R.QUERY_SUBSCRIPTION_BY_CONSUMER: bodies.QuerySubscriptionAnswer,
    R.QUERY_CONSUME_TIME_SPAN: reports.ConsumeTimeSpans,
    R.QUERY_CORRECTION_OFFSET: reports.CorrectionOffsets,
    R.VIEW_BROKER_STATS_DATA: reports.BrokerStatsData,
    R.QUERY_CONSUME_QUEUE: reports.QueryConsumeQueueAnswer,
    R.GET_BROKER_HA_STATUS: reports.HARuntimeInfo,
    R.CHECK_ROCKSDB_CQ_WRITE_PROGRESS: reports.RocksCheck,
    R.GET_CONSUMER_RUNNING_INFO: reports.ConsumerRunningInfo,
    R.CONSUME_MESSAGE_DIRECTLY: reports.DirectConsumption,
}

NOT_RECORDED = {
    R.CHECK_ROCKSDB_CQ_WRITE_PROGRESS,
    R.CONSUME_MESSAGE_DIRECTLY,
    R.GET_BROKER_CONSUME_STATS,
    R.GET_BROKER_RUNTIME_INFO,
    R.GET_CONSUMER_RUNNING_INFO,
}

REQUEST_BODIES: dict[int, type[Any]] = {
    R.REGISTER_BROKER: bodies.RegisterBrokerBody,
    R.QUERY_DATA_VERSION: bodies.DataVersion,
    R.HEART_BEAT: bodies.HeartbeatData,
    R.CHECK_CLIENT_CONFIG: bodies.ClientCheck,
    R.LOCK_BATCH_MQ: bodies.LockBatch,
    R.UNLOCK_BATCH_MQ: bodies.LockBatch,
    R.BATCH_ACK_MESSAGE: bodies.BatchAcks,
    R.QUERY_ASSIGNMENT: bodies.QueryAssignment,
    R.SET_MESSAGE_REQUEST_MODE: bodies.GroupRequestMode,
    R.RESET_CONSUMER_CLIENT_OFFSET: reports.ResetOffsets,
    R.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: bodies.GroupConfig,
}


def shapes(form: str) -> list[Any]:
    known = entries("json-shapes.json")
    return [
        pytest.param(kind, known[name][form], id=name)
        for name, kind in SHAPES.items()
        if form in known[name]
    ]


@pytest.mark.parametrize(("kind", "text"), shapes("filled"))
def test_filled_bodies_come_back_as_java_wrote_them(kind: type[Any], text: str) -> None:
    body = from_json(kind, javajson.loads(text))
    assert javajson.dumps(to_json(body), bare_int_keys=True).decode() == text


@pytest.mark.parametrize(("kind", "text"), shapes("default_instance"))
def test_defaults_are_javas(kind: type[Any], text: str) -> None:
    members = javajson.loads(text)
    required = {"topicName", "groupName", "brokerName", "messageQueue", "topic", "consumerGroup"}
    required |= {"clientID", "c", "t"}
    filler: dict[str, Any] = dict.fromkeys(required, "s") | {
        "messageQueue": {"topic": "s", "brokerName": "s", "queueId": 0}
    }
    body = to_json(from_json(kind, filler))
    given = {name: value for name, value in body.items() if name not in filler}
    for name in given:  # What Java leaves to the clock.
        if name in ("dataVersion", "mappingDataVersion", "timestamp", "subVersion"):
            members[name] = given[name]
        if name.endswith("Str"):
            members.pop(name)
    extra = {"mappingDataVersion", "topicQueueMappingDetailMap", "topicQueueMappingInfoMap"}
    extra |= {"brokerAddrs", "minTimeStampStr", "maxTimeStampStr", "consumeTimeStampStr"}
    extra |= {"data", "queueData", "topicConfigSerializeWrapper"}
    assert {k: v for k, v in given.items() if k not in extra} == {
        k: v for k, v in members.items() if k not in extra
    }


def test_recorded_answers_come_back() -> None:
    tried = set()
    for request, answer in exchanges():
        code = decode_frame(bytes.fromhex(request["frame_hex"])).code
        command = decode_frame(bytes.fromhex(answer["frame_hex"]))
        if code in ANSWER_BODIES and command.code == ResponseCode.SUCCESS and command.body:
            tried.add(code)
            same_body(ANSWER_BODIES[code], command.body, answer["name"])
    assert ANSWER_BODIES.keys() - tried == NOT_RECORDED


def test_recorded_requests_come_back() -> None:
    tried = set()
    for param in frames():
        entry = param.values[0]
        command = decode_frame(bytes.fromhex(entry["frame_hex"]))
        if command.is_response or command.code not in REQUEST_BODIES or len(command.body) < 3:
            continue
        tried.add(command.code)
        same_body(REQUEST_BODIES[command.code], command.body, entry["name"])
    assert tried == REQUEST_BODIES.keys()


def same_body(kind: type[Any], text: bytes, name: str) -> None:
    """Members may be missing in a request made by hand, but none of those sent may change."""
    given = javajson.loads(text)
    body = from_json(kind, given)
    again = to_json(body)
    assert contains(canonical(again), canonical(given)), name
    assert from_json(kind, javajson.loads(javajson.dumps(again))) == body


def canonical(value: Any) -> Any:
    """Keys as text: bare and quoted numbers are the same."""
    if isinstance(value, dict):
        return {str(key): canonical(each) for key, each in value.items()}
    return [canonical(each) for each in value] if isinstance(value, list) else value


def contains(whole: Any, part: Any) -> bool:
    if isinstance(part, dict):
        return all(name in whole and contains(whole[name], part[name]) for name in part)
    if isinstance(part, list):
        return len(whole) == len(part) and all(map(contains, whole, part))
    return bool(whole == part)


def test_a_body_of_the_wrong_shape_names_the_member() -> None:
    with pytest.raises(BadField) as caught:
        from_json(bodies.TopicRouteData, {"queueDatas": [{"brokerName": "a", "perm": "x"}]})
    assert caught.value.name == "perm"
    with pytest.raises(BadField, match="HeartbeatData"):
        from_json(bodies.HeartbeatData, [])


def test_data_versions_count_up() -> None:
    first = bodies.DataVersion()
    second = first.next(1_700_000_000_000)
    assert second == bodies.DataVersion(0, 1_700_000_000_000, 1)
    assert second != second.next(1_700_000_000_000)


def test_queues_sort_as_java_sorts_them() -> None:
    queues = [MessageQueue("b", "a", 0), MessageQueue("a", "b", 1), MessageQueue("a", "b", 0)]
    assert sorted(queues) == [queues[2], queues[1], queues[0]]
