# SPDX-License-Identifier: Apache-2.0
"""What a name server is asked: one function per request code, and the table of them.

Every function is (name server, peer, request) -> Response, and done when it returns. What a request
lacks raises BadField, which the server answers with code 1 and the field's name.
"""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from eruca.configure import NAMESERVER, as_properties
from eruca.errors import BadField, ConfigError
from eruca.nameserver.kv import ORDER_TOPICS
from eruca.nameserver.routes import Outcome
from eruca.nameserver.views import with_acting_masters, within_zone
from eruca.net.peer import Peer
from eruca.net.server import Handler, Response
from eruca.wire import commands, javajson, registration
from eruca.wire.bodies import (
    DataVersion,
    KVTable,
    MemberGroupAnswer,
    RegisterBrokerBody,
    TopicList,
    TopicRouteData,
)
from eruca.wire.codes import V4_9_4, RequestCode, ResponseCode
from eruca.wire.fields import from_json, parse, to_json
from eruca.wire.header import Command
from eruca.wire.javaproperties import read_properties

if TYPE_CHECKING:
    from eruca.nameserver.nameserver import Nameserver

log = logging.getLogger("eruca.nameserver")

UNIT: Final = 1  # Bits of a topic's system flag.
UNIT_SUBSCRIPTION: Final = 2

_FAQ: Final = "\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."


# Keys and values.


def put_kv(ns: "Nameserver", peer: Peer, request: Command) -> Response:
    ask = parse(commands.PutKVConfig, request.fields)
    return _stored(peer, ask, lambda: ns.kv.put(ask.namespace, ask.key, ask.value))


def read_kv(ns: "Nameserver", peer: Peer, request: Command) -> Response:
    ask = parse(commands.GetKVConfig, request.fields)
    value = ns.kv.find(ask.namespace, ask.key)
    if value is None:
        remark = f"No config item, Namespace: {ask.namespace} Key: {ask.key}"
        return Response(ResponseCode.QUERY_NOT_FOUND, remark=remark)
    return Response(answer=commands.GetKVConfigAnswer(value))


def delete_kv(ns: "Nameserver", peer: Peer, request: Command) -> Response:
    ask = parse(commands.DeleteKVConfig, request.fields)
    return _stored(peer, ask, lambda: ns.kv.delete(ask.namespace, ask.key))


def list_kv(ns: "Nameserver", peer: Peer, request: Command) -> Response:
    ask = parse(commands.GetKVList, request.fields)
    table = ns.kv.table(ask.namespace)
    if table is None:
        remark = f"No config item, Namespace: {ask.namespace}"
        return Response(ResponseCode.QUERY_NOT_FOUND, remark=remark)
    return Response(body=_json(KVTable(table)))


def _stored(peer: Peer, ask: object, change: Callable[[], None]) -> Response:
    """Make a change that ends on the disk, and say who made it."""
    try:
        change()
    except OSError as error:
        log.error("cannot store peer=%s ask=%s error=%s", peer.address, ask, error)
        return Response(ResponseCode.SYSTEM_ERROR, remark=f"nothing changed: cannot store: {error}")
    log.info("changed peer=%s ask=%s", peer.address, ask)
    return Response()


# Brokers.


def register_broker(ns: "Nameserver", peer: Peer, request: Command) -> Response:
    ask = parse(commands.RegisterBroker, request.fields)
    now_ms = ns.clock.mono_ms()
    if not ns.routes.renew(ask, request.body, peer, now_ms):
        if ask.body_crc and ask.body_crc != registration.crc_of(request.body):
            return Response(ResponseCode.SYSTEM_ERROR, remark="crc32 not match")
        body = RegisterBrokerBody()
        if request.body:
            body = registration.decode(request.body, version=request.version)
        if (ask.cluster, ask.broker_address) not in ns.routes.live:
            log.info("broker registers name=%s address=%s", ask.broker_name, ask.broker_address)
        taken = ns.routes.register(ask, body, peer, now_ms)
        if taken.outcome is Outcome.UNKNOWN:
            return Response(ResponseCode.SYSTEM_ERROR, remark="register broker failed")
        if taken.outcome is Outcome.STALE:
            log.warning("refused stale registration address=%s", ask.broker_address)
            return Response()
        if ns.settings.nameserver.registration_deletes_topics:
            ns.routes.prune(ask, body)
        ns.routes.settle(ask, request.body)
        ns.tell(taken.notice)
    ns.watch(peer)
    table = ns.kv.table(ORDER_TOPICS) if ns.settings.nameserver.order_topics_to_brokers else None
    return Response(
        answer=ns.routes.master_of(ask), body=b"" if table is None else _json(KVTable(table))
    )


def unregister_broker(ns: "Nameserver", peer: Peer, request: Command) -> Response:
    ask = parse(commands.UnregisterBroker, request.fields)
    log.info("broker unregisters name=%s address=%s", ask.broker_name, ask.broker_address)
    ns.tell(ns.routes.unregister(ask))
    return Response()


def data_version(ns: "Nameserver", peer: Peer, request: Command) -> Response:
    ask = parse(commands.QueryDataVersion, request.fields)
    theirs = from_json(DataVersion, javajson.loads(request.body))
    ours = ns.routes.touch(ask.cluster, ask.broker_address, ns.clock.mono_ms())
    return Response(
        answer=commands.QueryDataVersionAnswer(changed=theirs != ours),
        body=b"" if ours is None else _json(ours),
    )


def broker_heartbeat(ns: "Nameserver", peer: Peer, request: Command) -> Response:
    ask = parse(commands.BrokerHeartbeat, request.fields)
    ns.routes.touch(ask.cluster, ask.broker_address, ns.clock.mono_ms())
    return Response()


def member_group(ns: "Nameserver", peer: Peer, request: Command) -> Response:
    ask = parse(commands.GetBrokerMemberGroup, request.fields)
    members = ns.routes.members(ask.cluster, ask.broker_name)
    return Response(
        body=_json(MemberGroupAnswer(members), bare_int_keys=True),
        remark="not set any response code",  # Java: forgotten there, and so what clients know.
    )


def cluster_info(ns: "Nameserver", peer: Peer, request: Command) -> Response:
    return Response(body=_json(ns.routes.cluster_info(), bare_int_keys=True))


def wipe_write_perm(ns: "Nameserver", peer: Peer, request: Command) -> Response:
    ask = parse(commands.WipeWritePerm, request.fields)
    count = ns.routes.wipe_write(ask.broker_name)
    log.info("wiped peer=%s broker=%s topics=%d", peer.address, ask.broker_name, count)
    return Response(answer=commands.WipeWritePermAnswer(count))


def add_write_perm(ns: "Nameserver", peer: Peer, request: Command) -> Response:
    ask = parse(commands.AddWritePerm, request.fields)
    count = ns.routes.restore_write(ask.broker_name)
    log.info("restored peer=%s broker=%s topics=%d", peer.address, ask.broker_name, count)
    return Response(answer=commands.AddWritePermAnswer(count))


# Topics.


def route(ns: "Nameserver", peer: Peer, request: Command) -> Response:
    ask = parse(commands.GetRouteInfo, request.fields)
    if not ns.is_ready():
        return Response(ResponseCode.SYSTEM_ERROR, remark="name server not ready")
    found = ns.routes.route(ask.topic)
    if found is None:
        remark = f"No topic route info in name server for the topic: {ask.topic}{_FAQ}"
        return Response(ResponseCode.TOPIC_NOT_EXIST, remark=remark)
    if ns.settings.nameserver.order_topics:
        found.order_conf = ns.kv.find(ORDER_TOPICS, ask.topic)
    if ns.settings.nameserver.acting_master:
        found = with_acting_masters(ask.topic, found)
    if ask.zone_mode and ask.zone and ask.zone.strip():
        found = within_zone(found, ask.zone)
    is_old = request.version < V4_9_4 and not ask.standard_json_only
    return Response(body=_json(found, bare_int_keys=is_old))


def delete_topic(ns: "Nameserver", peer: Peer, request: Command) -> Response:
    ask = parse(commands.DeleteTopicInNameServer, request.fields)
    ns.routes.delete_topic(ask.topic, ask.cluster)
    log.info("deleted topic=%s cluster=%s peer=%s", ask.topic, ask.cluster, peer.address)
    return Response()


def register_topic(ns: "Nameserver", peer: Peer, request: Command) -> Response:
    ask = parse(commands.RegisterTopic, request.fields)
    if request.body:
        ns.routes.add_topic(
            ask.topic, from_json(TopicRouteData, javajson.loads(request.body)).queues
        )
    return Response()


def all_topics(ns: "Nameserver", peer: Peer, request: Command) -> Response:
    if not ns.settings.nameserver.all_topic_list:
        return Response(ResponseCode.SYSTEM_ERROR, remark="disable")
    return Response(body=_json(TopicList(list(ns.routes.topics))))


def topics_by_cluster(ns: "Nameserver", peer: Peer, request: Command) -> Response:
    ask = parse(commands.GetTopicsByCluster, request.fields)
    return _topic_list(ns, lambda: ns.routes.topics_in(ask.cluster))


def system_topics(ns: "Nameserver", peer: Peer, request: Command) -> Response:
    return Response(body=_json(ns.routes.system_topics()))


def _topics_with(accept: Callable[[int], bool]) -> Handler["Nameserver"]:
    """Topics by their system flag."""
    return Handler(lambda ns, peer, request: _topic_list(ns, lambda: ns.routes.topics_with(accept)))


def _topic_list(ns: "Nameserver", topics: Callable[[], TopicList]) -> Response:
    if not ns.settings.nameserver.topic_list:
        return Response(ResponseCode.SYSTEM_ERROR, remark="disable")
    return Response(body=_json(topics()))


# Configuration.


def update_config(ns: "Nameserver", peer: Peer, request: Command) -> Response:
    try:
        values = read_properties(request.body.decode())
        return _stored(peer, values, lambda: ns.change(values))
    except UnicodeDecodeError as error:
        raise BadField("body", f"is not UTF-8: {error.reason}") from None
    except ConfigError as error:
        log.warning("refused configuration peer=%s error=%s", peer.address, error)
        remark = f"Can not update config in black list. {error}"
        return Response(ResponseCode.NO_PERMISSION, remark=remark)


def read_config(ns: "Nameserver", peer: Peer, request: Command) -> Response:
    values = as_properties(ns.settings, NAMESERVER)
    text = "".join(f"{key}={value}\n" for key, value in values.items())
    return Response(body=text.encode())


def _json(body: object, *, bare_int_keys: bool = False) -> bytes:
    return javajson.dumps(to_json(body), bare_int_keys=bare_int_keys)


TABLE: Final[dict[int, Handler["Nameserver"]]] = {
    RequestCode.PUT_KV_CONFIG: Handler(put_kv),
    RequestCode.GET_KV_CONFIG: Handler(read_kv),
    RequestCode.DELETE_KV_CONFIG: Handler(delete_kv),
    RequestCode.REGISTER_BROKER: Handler(register_broker),
    RequestCode.UNREGISTER_BROKER: Handler(unregister_broker),
    RequestCode.GET_ROUTEINFO_BY_TOPIC: Handler(route),
    RequestCode.GET_BROKER_CLUSTER_INFO: Handler(cluster_info),
    RequestCode.WIPE_WRITE_PERM_OF_BROKER: Handler(wipe_write_perm),
    RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER: Handler(all_topics),
    RequestCode.DELETE_TOPIC_IN_NAMESRV: Handler(delete_topic),
    RequestCode.REGISTER_TOPIC_IN_NAMESRV: Handler(register_topic),
    RequestCode.GET_KVLIST_BY_NAMESPACE: Handler(list_kv),
    RequestCode.GET_TOPICS_BY_CLUSTER: Handler(topics_by_cluster),
    RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS: Handler(system_topics),
    RequestCode.GET_UNIT_TOPIC_LIST: _topics_with(lambda flag: flag & UNIT != 0),
    RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST: _topics_with(
        lambda flag: flag & UNIT_SUBSCRIPTION != 0
    ),
    RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST: _topics_with(
        lambda flag: flag & (UNIT | UNIT_SUBSCRIPTION) == UNIT_SUBSCRIPTION
    ),
    RequestCode.UPDATE_NAMESRV_CONFIG: Handler(update_config),
    RequestCode.GET_NAMESRV_CONFIG: Handler(read_config),
    RequestCode.QUERY_DATA_VERSION: Handler(data_version),
    RequestCode.ADD_WRITE_PERM_OF_BROKER: Handler(add_write_perm),
    RequestCode.GET_BROKER_MEMBER_GROUP: Handler(member_group),
    RequestCode.BROKER_HEARTBEAT: Handler(broker_heartbeat),
}
