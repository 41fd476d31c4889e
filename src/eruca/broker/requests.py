# SPDX-License-Identifier: Apache-2.0
"""What the broker can do: request code -> handler. The hot codes are here for odd headers only:
in the usual form hot.py serves them before this table is asked.
"""

from typing import TYPE_CHECKING

from librt.strings import BytesWriter

from eruca.broker import (
    administration,
    membership,
    moving,
    positions,
    queries,
    relays,
    reports,
)
from eruca.broker.retries import send_back
from eruca.net.peer import Peer
from eruca.net.server import Handler, Response
from eruca.wire.codes import RequestCode
from eruca.wire.header import Command
from eruca.wire.hot import PullAsk, SendAsk
from eruca.wire.scan import Ask

if TYPE_CHECKING:
    from eruca.broker.broker import Broker


def send(broker: "Broker", peer: Peer, request: Command) -> Response | None:
    """A send whose header hot.py could not scan: the same, by way of a dictionary."""
    ask = SendAsk()
    _fill(ask, request)
    answer = broker.slow_send(peer, ask, request.body, request.kind)
    if not request.is_oneway:
        peer.write_later(answer)
    return None


def pull(broker: "Broker", peer: Peer, request: Command) -> Response | None:
    ask = PullAsk()
    ask.kind = request.kind
    ask.code = request.code
    _fill(ask, request)
    out = BytesWriter()
    body = broker.hot.pull(peer, ask, out)
    peer.write_later(out.getvalue() + body)
    return None


def _fill(ask: Ask, request: Command) -> None:
    ask.opaque = request.opaque
    ask.flag = request.flag
    for key, text in request.fields.items():
        name, value = key.encode(), text.encode()
        ask.put(name, 0, len(name), value, 0, len(value))


TABLE: dict[int, Handler["Broker"]] = {
    RequestCode.SEND_MESSAGE: Handler(send),
    RequestCode.SEND_MESSAGE_V2: Handler(send),
    RequestCode.SEND_BATCH_MESSAGE: Handler(send),
    RequestCode.PULL_MESSAGE: Handler(pull),
    RequestCode.LITE_PULL_MESSAGE: Handler(pull),
    RequestCode.CONSUMER_SEND_MSG_BACK: Handler(send_back),
    # Members of groups.
    RequestCode.HEART_BEAT: Handler(membership.heartbeat),
    RequestCode.UNREGISTER_CLIENT: Handler(membership.unregister),
    RequestCode.CHECK_CLIENT_CONFIG: Handler(membership.check_client),
    RequestCode.GET_CONSUMER_LIST_BY_GROUP: Handler(membership.consumer_ids),
    RequestCode.LOCK_BATCH_MQ: Handler(membership.lock),
    RequestCode.UNLOCK_BATCH_MQ: Handler(membership.unlock),
    RequestCode.GET_CONSUMER_CONNECTION_LIST: Handler(membership.consumer_connections),
    RequestCode.GET_PRODUCER_CONNECTION_LIST: Handler(membership.producer_connections),
    RequestCode.GET_ALL_PRODUCER_INFO: Handler(membership.all_producers),
    RequestCode.QUERY_TOPIC_CONSUME_BY_WHO: Handler(membership.groups_of_topic),
    RequestCode.QUERY_TOPICS_BY_CONSUMER: Handler(membership.topics_of_group),
    RequestCode.QUERY_SUBSCRIPTION_BY_CONSUMER: Handler(membership.subscription_of_group),
    RequestCode.UPDATE_AND_GET_GROUP_FORBIDDEN: Handler(membership.forbidden),
    RequestCode.GET_CONSUMER_RUNNING_INFO: Handler(relays.running_info),
    RequestCode.CONSUME_MESSAGE_DIRECTLY: Handler(relays.consume_directly),
    RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS: Handler(relays.client_statuses),
    # Offsets.
    RequestCode.QUERY_CONSUMER_OFFSET: Handler(positions.query),
    RequestCode.UPDATE_CONSUMER_OFFSET: Handler(positions.update),
    RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: Handler(positions.offset_by_time),
    RequestCode.GET_MAX_OFFSET: Handler(positions.max_offset),
    RequestCode.GET_MIN_OFFSET: Handler(positions.min_offset),
    RequestCode.GET_EARLIEST_MSG_STORETIME: Handler(positions.earliest_store_time),
    RequestCode.GET_ALL_CONSUMER_OFFSET: Handler(positions.all_offsets),
    RequestCode.GET_ALL_DELAY_OFFSET: Handler(positions.all_delay_offsets),
    RequestCode.INVOKE_BROKER_TO_RESET_OFFSET: Handler(moving.reset),
    RequestCode.CLONE_GROUP_OFFSET: Handler(moving.clone),
    RequestCode.QUERY_CORRECTION_OFFSET: Handler(moving.correction),
    # Messages.
    RequestCode.QUERY_MESSAGE: Handler(queries.by_key),
    RequestCode.VIEW_MESSAGE_BY_ID: Handler(queries.by_place),
    RequestCode.QUERY_CONSUME_QUEUE: Handler(queries.queue_entries),
    # Reports.
    RequestCode.GET_TOPIC_STATS_INFO: Handler(reports.topic_stats),
    RequestCode.GET_CONSUME_STATS: Handler(reports.consume_stats),
    RequestCode.GET_BROKER_CONSUME_STATS: Handler(reports.all_consume_stats),
    RequestCode.QUERY_CONSUME_TIME_SPAN: Handler(reports.time_spans),
    RequestCode.VIEW_BROKER_STATS_DATA: Handler(reports.statistics_item),
    RequestCode.GET_BROKER_RUNTIME_INFO: Handler(reports.runtime_info),
    RequestCode.GET_BROKER_HA_STATUS: Handler(reports.replication),
    # Administration.
    RequestCode.UPDATE_AND_CREATE_TOPIC: Handler(administration.update_topic),
    RequestCode.UPDATE_AND_CREATE_TOPIC_LIST: Handler(administration.update_topics),
    RequestCode.DELETE_TOPIC_IN_BROKER: Handler(administration.delete_topic),
    RequestCode.GET_TOPIC_CONFIG: Handler(administration.topic_config),
    RequestCode.GET_ALL_TOPIC_CONFIG: Handler(administration.all_topics),
    RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER: Handler(administration.system_topics),
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: Handler(administration.update_group),
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST: Handler(administration.update_groups),
    RequestCode.DELETE_SUBSCRIPTIONGROUP: Handler(administration.delete_group),
    RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG: Handler(administration.group_config),
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: Handler(administration.all_groups),
    RequestCode.GET_BROKER_CONFIG: Handler(administration.read_options),
    RequestCode.UPDATE_BROKER_CONFIG: Handler(administration.update_options),
    RequestCode.DELETE_EXPIRED_COMMITLOG: Handler(administration.clean_log),
    RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE: Handler(administration.clean_queues),
    RequestCode.CLEAN_UNUSED_TOPIC: Handler(administration.clean_topics),
}
