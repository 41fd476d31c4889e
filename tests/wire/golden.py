# SPDX-License-Identifier: Apache-2.0
"""The recorded frames and JSON shapes, and which class reads the header of which code."""

import json
from pathlib import Path
from typing import Any

import pytest

from eruca.wire import commands
from eruca.wire.codes import RequestCode

VECTORS = Path(__file__).parent.parent / "golden" / "vectors"


def entries(name: str) -> Any:
    return json.loads((VECTORS / name).read_text())


def frames() -> list[Any]:
    """A pytest parameter per recorded frame: the entry as it stands in its file."""
    found = []
    for path in sorted(VECTORS.glob("*.json")):
        if path.name != "json-shapes.json":
            for entry in entries(path.name):
                if "frame_hex" in entry:
                    found.append(pytest.param(entry, id=f"{path.stem}:{entry['name']}"))
    return found


def exchanges() -> list[tuple[Any, Any]]:
    """The pairs of a recorded request and its answer."""
    pairs = []
    for path in sorted(VECTORS.glob("*.json")):
        if path.name != "json-shapes.json":
            known = {entry["name"]: entry for entry in entries(path.name)}
            for name, entry in known.items():
                answer = known.get(name.removesuffix(".req") + ".rsp")
                if name.endswith(".req") and answer is not None:
                    pairs.append((entry, answer))
    return pairs


REQUESTS: dict[int, type[Any]] = {
    RequestCode.PUT_KV_CONFIG: commands.PutKVConfig,
    RequestCode.GET_KV_CONFIG: commands.GetKVConfig,
    RequestCode.DELETE_KV_CONFIG: commands.DeleteKVConfig,
    RequestCode.REGISTER_BROKER: commands.RegisterBroker,
    RequestCode.UNREGISTER_BROKER: commands.UnregisterBroker,
    RequestCode.GET_ROUTEINFO_BY_TOPIC: commands.GetRouteInfo,
    RequestCode.WIPE_WRITE_PERM_OF_BROKER: commands.WipeWritePerm,
    RequestCode.DELETE_TOPIC_IN_NAMESRV: commands.DeleteTopicInNameServer,
    RequestCode.REGISTER_TOPIC_IN_NAMESRV: commands.RegisterTopic,
    RequestCode.GET_KVLIST_BY_NAMESPACE: commands.GetKVList,
    RequestCode.GET_TOPICS_BY_CLUSTER: commands.GetTopicsByCluster,
    RequestCode.QUERY_DATA_VERSION: commands.QueryDataVersion,
    RequestCode.ADD_WRITE_PERM_OF_BROKER: commands.AddWritePerm,
    RequestCode.GET_BROKER_MEMBER_GROUP: commands.GetBrokerMemberGroup,
    RequestCode.BROKER_HEARTBEAT: commands.BrokerHeartbeat,
    RequestCode.SEND_MESSAGE: commands.SendMessage,
    RequestCode.SEND_MESSAGE_V2: commands.SendMessageV2,
    RequestCode.SEND_BATCH_MESSAGE: commands.SendMessageV2,
    RequestCode.SEND_REPLY_MESSAGE: commands.SendMessage,
    RequestCode.SEND_REPLY_MESSAGE_V2: commands.SendMessageV2,
    RequestCode.CONSUMER_SEND_MSG_BACK: commands.SendBack,
    RequestCode.END_TRANSACTION: commands.EndTransaction,
    RequestCode.PULL_MESSAGE: commands.PullMessage,
    RequestCode.LITE_PULL_MESSAGE: commands.PullMessage,
    RequestCode.QUERY_MESSAGE: commands.QueryMessage,
    RequestCode.VIEW_MESSAGE_BY_ID: commands.ViewMessage,
    RequestCode.QUERY_CONSUMER_OFFSET: commands.QueryConsumerOffset,
    RequestCode.UPDATE_CONSUMER_OFFSET: commands.UpdateConsumerOffset,
    RequestCode.GET_MAX_OFFSET: commands.GetMaxOffset,
    RequestCode.GET_MIN_OFFSET: commands.GetMinOffset,
    RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: commands.SearchOffset,
    RequestCode.GET_EARLIEST_MSG_STORETIME: commands.GetEarliestStoreTime,
    RequestCode.UNREGISTER_CLIENT: commands.UnregisterClient,
    RequestCode.GET_CONSUMER_LIST_BY_GROUP: commands.GetConsumerList,
    RequestCode.RECALL_MESSAGE: commands.RecallMessage,
    RequestCode.POP_MESSAGE: commands.PopMessage,
    RequestCode.ACK_MESSAGE: commands.AckMessage,
    RequestCode.CHANGE_MESSAGE_INVISIBLETIME: commands.ChangeInvisibleTime,
    RequestCode.PEEK_MESSAGE: commands.PeekMessage,
    RequestCode.NOTIFICATION: commands.Notification,
    RequestCode.POLLING_INFO: commands.PollingInfo,
    RequestCode.CHECK_TRANSACTION_STATE: commands.CheckTransactionState,
    RequestCode.NOTIFY_CONSUMER_IDS_CHANGED: commands.NotifyConsumerIdsChanged,
    RequestCode.RESET_CONSUMER_CLIENT_OFFSET: commands.ResetOffset,
    RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT: commands.GetConsumerStatus,
    RequestCode.GET_CONSUMER_RUNNING_INFO: commands.GetConsumerRunningInfo,
    RequestCode.CONSUME_MESSAGE_DIRECTLY: commands.ConsumeDirectly,
    RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT: commands.PushReply,
    RequestCode.NOTIFY_UNSUBSCRIBE_LITE: commands.NotifyUnsubscribeLite,
    RequestCode.UPDATE_AND_CREATE_TOPIC: commands.CreateTopic,
    RequestCode.DELETE_TOPIC_IN_BROKER: commands.DeleteTopic,
    RequestCode.GET_ALL_TOPIC_CONFIG: commands.GetAllTopicConfig,
    RequestCode.GET_TOPIC_CONFIG: commands.GetTopicConfig,
    RequestCode.UPDATE_AND_CREATE_STATIC_TOPIC: commands.CreateTopic,
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: commands.GetAllGroupConfig,
    RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG: commands.GetGroupConfig,
    RequestCode.DELETE_SUBSCRIPTIONGROUP: commands.DeleteGroup,
    RequestCode.UPDATE_AND_GET_GROUP_FORBIDDEN: commands.UpdateGroupForbidden,
    RequestCode.GET_TOPIC_STATS_INFO: commands.GetTopicStats,
    RequestCode.GET_CONSUMER_CONNECTION_LIST: commands.GetConsumerConnections,
    RequestCode.GET_PRODUCER_CONNECTION_LIST: commands.GetProducerConnections,
    RequestCode.GET_CONSUME_STATS: commands.GetConsumeStats,
    RequestCode.GET_BROKER_CONSUME_STATS: commands.GetBrokerConsumeStats,
    RequestCode.INVOKE_BROKER_TO_RESET_OFFSET: commands.ResetOffset,
    RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS: commands.GetConsumerStatus,
    RequestCode.QUERY_TOPIC_CONSUME_BY_WHO: commands.QueryTopicGroups,
    RequestCode.QUERY_TOPICS_BY_CONSUMER: commands.QueryTopicsByConsumer,
    RequestCode.QUERY_SUBSCRIPTION_BY_CONSUMER: commands.QuerySubscriptionByConsumer,
    RequestCode.QUERY_CONSUME_TIME_SPAN: commands.QueryConsumeTimeSpan,
    RequestCode.QUERY_CORRECTION_OFFSET: commands.QueryCorrectionOffset,
    RequestCode.CLONE_GROUP_OFFSET: commands.CloneGroupOffset,
    RequestCode.VIEW_BROKER_STATS_DATA: commands.ViewBrokerStatsData,
    RequestCode.QUERY_CONSUME_QUEUE: commands.QueryConsumeQueue,
    RequestCode.RESUME_CHECK_HALF_MESSAGE: commands.ResumeCheckHalfMessage,
    RequestCode.CHECK_ROCKSDB_CQ_WRITE_PROGRESS: commands.CheckRocksWriteProgress,
    RequestCode.EXPORT_ROCKSDB_CONFIG_TO_JSON: commands.ExportRocksConfig,
    RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE: commands.NotifyMinBrokerIdChange,
    RequestCode.EXCHANGE_BROKER_HA_INFO: commands.ExchangeHAInfo,
    RequestCode.RESET_MASTER_FLUSH_OFFSET: commands.ResetMasterFlushOffset,
}

ANSWERS: dict[int, type[Any]] = {
    RequestCode.GET_KV_CONFIG: commands.GetKVConfigAnswer,
    RequestCode.REGISTER_BROKER: commands.RegisterBrokerAnswer,
    RequestCode.WIPE_WRITE_PERM_OF_BROKER: commands.WipeWritePermAnswer,
    RequestCode.QUERY_DATA_VERSION: commands.QueryDataVersionAnswer,
    RequestCode.ADD_WRITE_PERM_OF_BROKER: commands.AddWritePermAnswer,
    RequestCode.SEND_MESSAGE: commands.SendMessageAnswer,
    RequestCode.SEND_MESSAGE_V2: commands.SendMessageAnswer,
    RequestCode.SEND_BATCH_MESSAGE: commands.SendMessageAnswer,
    RequestCode.SEND_REPLY_MESSAGE: commands.SendMessageAnswer,
    RequestCode.SEND_REPLY_MESSAGE_V2: commands.SendMessageAnswer,
    RequestCode.PULL_MESSAGE: commands.PullMessageAnswer,
    RequestCode.LITE_PULL_MESSAGE: commands.PullMessageAnswer,
    RequestCode.QUERY_MESSAGE: commands.QueryMessageAnswer,
    RequestCode.QUERY_CONSUMER_OFFSET: commands.QueryConsumerOffsetAnswer,
    RequestCode.GET_MAX_OFFSET: commands.GetMaxOffsetAnswer,
    RequestCode.GET_MIN_OFFSET: commands.GetMinOffsetAnswer,
    RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: commands.SearchOffsetAnswer,
    RequestCode.GET_EARLIEST_MSG_STORETIME: commands.GetEarliestStoreTimeAnswer,
    RequestCode.RECALL_MESSAGE: commands.RecallMessageAnswer,
    RequestCode.POP_MESSAGE: commands.PopMessageAnswer,
    RequestCode.CHANGE_MESSAGE_INVISIBLETIME: commands.ChangeInvisibleTimeAnswer,
    RequestCode.PEEK_MESSAGE: commands.PopMessageAnswer,
    RequestCode.NOTIFICATION: commands.NotificationAnswer,
    RequestCode.POLLING_INFO: commands.PollingInfoAnswer,
    RequestCode.GET_ALL_TOPIC_CONFIG: commands.GetAllTopicConfigAnswer,
    RequestCode.GET_BROKER_CONFIG: commands.GetBrokerConfigAnswer,
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: commands.GetAllGroupConfigAnswer,
    RequestCode.EXCHANGE_BROKER_HA_INFO: commands.ExchangeHAInfoAnswer,
}
