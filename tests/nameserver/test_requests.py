# SPDX-License-Identifier: Apache-2.0
"""Every request code of a name server."""

import zlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eruca.nameserver.requests import TABLE
from eruca.wire import commands, javajson, registration
from eruca.wire.bodies import (
    ClusterInfo,
    DataVersion,
    KVTable,
    MemberGroupAnswer,
    QueueData,
    RegisterBrokerBody,
    TopicList,
    TopicRouteData,
)
from eruca.wire.codes import RequestCode, ResponseCode
from eruca.wire.fields import to_json
from eruca.wire.header import ONEWAY_FLAG, Command

from .here import TWO, Bench, FakePeer, broker, json, read, table, topic

SERVED = {
    *range(100, 107), 205, 206, 216, 217, 219, 224, 304, 311, 312, 313, 318, 319, 322, 327, 901, 904
}  # fmt: skip

MASTER: Any = {}
SLAVE: Any = {"broker_id": 1, "broker_address": "192.0.2.2:10911", "ha_address": "192.0.2.2:10912"}
LATER_SLAVE: Any = {**SLAVE, "broker_id": 2, "broker_address": "192.0.2.3:10911"}
OTHER: Any = {
    "broker_name": "broker-b", "cluster": "c2", "broker_address": "192.0.2.8:10911",
    "zone": "East",
}  # fmt: skip


@pytest.fixture
def bench() -> Bench:
    return Bench()


def names(answer: Command) -> set[str]:
    assert answer.code == 0
    return set(read(TopicList, answer).topics)


def test_the_table_has_every_code_and_no_other() -> None:
    assert set(TABLE) == SERVED


def test_what_is_not_served_is_refused(bench: Bench) -> None:
    answer = bench.ask(RequestCode.SEND_MESSAGE)
    assert (answer.code, answer.remark) == (3, " request type 10 not supported")


NEEDS_FIELDS = SERVED - {106, 206, 304, 311, 312, 313, 318, 319}


@pytest.mark.parametrize("code", sorted(NEEDS_FIELDS))
def test_a_missing_field_is_named(bench: Bench, code: int) -> None:
    answer = bench.ask(code)
    assert answer.code == ResponseCode.SYSTEM_ERROR
    assert answer.remark is not None
    assert answer.remark.startswith("field ") and answer.remark.endswith(": is missing")


# 100, 101, 102, 219: key values.


def test_key_values_are_put_read_and_deleted(bench: Bench) -> None:
    assert bench.ask(100, commands.PutKVConfig("n", "k", "v")).code == 0
    assert bench.ask(101, commands.GetKVConfig("n", "k")).fields == {"value": "v"}
    assert read(KVTable, bench.ask(219, commands.GetKVList("n"))).table == {"k": "v"}
    for _ in range(2):  # Deleting what is not there is no error.
        assert bench.ask(102, commands.DeleteKVConfig("n", "k")).code == 0
    missed = bench.ask(101, commands.GetKVConfig("n", "k"))
    assert (missed.code, missed.remark) == (22, "No config item, Namespace: n Key: k")
    assert bench.ask(219, commands.GetKVList("unheard")).code == 22


def test_key_values_outlive_the_process(bench: Bench) -> None:
    bench.ask(100, commands.PutKVConfig("ORDER_TOPIC_CONFIG", "orders", "broker-a:4"))
    assert bench.disk.files["/data/namesrv/kvConfig.json"] == (
        b'{"configTable":{"ORDER_TOPIC_CONFIG":{"orders":"broker-a:4"}}}'
    )
    again = Bench(bench.disk)
    found = again.ask(101, commands.GetKVConfig("ORDER_TOPIC_CONFIG", "orders"))
    assert found.fields == {"value": "broker-a:4"}


@pytest.mark.parametrize("field", ["namespace", "key", "value"])
@pytest.mark.parametrize("text", ["", " ", "\ud800", "x" * 40_000])
def test_what_could_not_be_read_back_is_not_stored(bench: Bench, field: str, text: str) -> None:
    ask = commands.PutKVConfig(**{"namespace": "n", "key": "k", "value": "v", field: text})
    answer = bench.ask(100, ask)
    assert answer.code == ResponseCode.SYSTEM_ERROR
    assert f"field {field}" in str(answer.remark)
    assert not bench.disk.files


def test_a_full_disk_changes_nothing(bench: Bench) -> None:
    bench.ask(100, commands.PutKVConfig("n", "k", "old"))
    bench.disk.full = True
    assert bench.ask(100, commands.PutKVConfig("n", "k", "new")).code == 1
    assert bench.ask(102, commands.DeleteKVConfig("n", "k")).code == 1
    assert bench.ask(101, commands.GetKVConfig("n", "k")).fields == {"value": "old"}
    assert bench.ask(318, body=b"enableTopicList=false").code == 1
    assert bench.ns.settings.nameserver.topic_list


# 103, 104, 105: registration and routes.


def test_a_route_shows_who_registered(bench: Bench) -> None:
    answer = bench.register(*TWO)
    assert (answer.code, answer.remark, answer.fields, answer.body) == (0, None, {}, b"")
    assert bench.route("orders") == {
        "brokerDatas": [
            {
                "brokerAddrs": {"0": "192.0.2.1:10911"},
                "brokerName": "broker-a",
                "cluster": "c1",
                "enableActingMaster": False,
            }
        ],
        "filterServerTable": {},
        "queueDatas": [
            {
                "brokerName": "broker-a",
                "perm": 6,
                "readQueueNums": 4,
                "topicSysFlag": 0,
                "writeQueueNums": 4,
            }
        ],
    }


def test_an_unknown_topic_has_no_route(bench: Bench) -> None:
    bench.register(*TWO)
    answer = bench.ask(105, commands.GetRouteInfo("nope"))
    assert answer.code == ResponseCode.TOPIC_NOT_EXIST
    assert str(answer.remark).startswith("No topic route info in name server for the topic: nope\n")


@pytest.mark.parametrize(
    ("version", "standard", "bare"),
    [(399, None, True), (399, False, True), (399, True, False), (401, None, False)],
)
def test_old_clients_get_bare_keys(
    bench: Bench, version: int, standard: bool | None, bare: bool
) -> None:
    bench.register(*TWO)
    ask = commands.GetRouteInfo("orders", standard_json_only=standard)
    body = bench.ask(105, ask, version=version).body
    assert (b'{0:"192' in body, b'{"0":"192' in body) == (bare, not bare)


def test_the_body_s_checksum_is_checked(bench: Bench) -> None:
    _, body = broker(*TWO)
    assert bench.register(*TWO, body_crc=zlib.crc32(body) & 0x7FFFFFFF).code == 0
    answer = bench.register(*TWO, body_crc=5)
    assert (answer.code, answer.remark) == (1, "crc32 not match")


@pytest.mark.parametrize("said", [True, False])
def test_a_compressed_body_is_read_whatever_its_flag_says(bench: Bench, said: bool) -> None:
    ask, body = broker(*TWO, compressed=True)
    ask, _ = broker(*TWO, compressed=said)
    assert bench.ask(103, ask, body).code == 0
    assert bench.route("bills")["queueDatas"][0]["writeQueueNums"] == 4


def test_a_broken_body_is_refused_and_changes_nothing(bench: Bench) -> None:
    ask, _ = broker()
    for body in (b"{", b"x\x9c", b"[]", b'{"topicConfigSerializeWrapper":7}'):
        assert bench.ask(103, ask, body).code == 1
    assert not bench.ns.routes.brokers and not bench.ns.routes.live


def test_an_old_broker_sends_a_bare_table(bench: Bench) -> None:
    ask, _ = broker()
    body = javajson.dumps(to_json(table(*TWO).topics))
    assert bench.ask(103, ask, body, version=36).code == 0
    assert bench.route("orders")


def test_an_empty_body_registers_no_topics(bench: Bench) -> None:
    ask, _ = broker()
    assert bench.ask(103, ask).code == 0
    assert list(bench.ns.routes.brokers) == ["broker-a"] and not bench.ns.routes.topics


def test_a_slave_learns_of_its_master(bench: Bench) -> None:
    assert bench.register(*TWO, **SLAVE).fields == {}
    bench.register(*TWO)
    master = {"masterAddr": "192.0.2.1:10911", "haServerAddr": "192.0.2.1:10912"}
    for _ in range(2):  # A repeated registration is answered like the first.
        assert bench.register(*TWO, **SLAVE).fields == master


def test_order_topics_go_back_to_brokers(bench: Bench) -> None:
    bench.ask(100, commands.PutKVConfig("ORDER_TOPIC_CONFIG", "orders", "broker-a:4"))
    for _ in range(2):
        assert read(KVTable, bench.register(*TWO)).table == {"orders": "broker-a:4"}
    assert "orderTopicConf" not in bench.route("orders")
    bench.ask(318, body=b"orderMessageEnable=true\nreturnOrderTopicConfigToBroker=false\n")
    assert bench.register(*TWO).body == b""
    assert bench.route("orders")["orderTopicConf"] == "broker-a:4"
    assert "orderTopicConf" not in bench.route("bills")


def test_one_topic_from_an_unknown_broker_is_refused(bench: Bench) -> None:
    answer = bench.register(topic("orders"))
    assert (answer.code, answer.remark) == (1, "register broker failed")
    assert not bench.ns.routes.brokers and not bench.ns.routes.clusters
    bench.register(*TWO)
    assert bench.register(topic("more"), version=2).code == 0
    assert names(bench.ask(206)) == {"orders", "bills", "more"}


def test_unregistering_removes_the_route(bench: Bench) -> None:
    bench.register(*TWO)
    bench.register(*TWO, **SLAVE)
    bench.ask(104, commands.UnregisterBroker("broker-a", "192.0.2.1:10911", "c1", 0))
    assert bench.route("orders")["brokerDatas"][0]["brokerAddrs"] == {"1": "192.0.2.2:10911"}
    bench.ask(104, commands.UnregisterBroker("broker-a", "192.0.2.2:10911", "c1", 1))
    assert bench.route("orders") is None
    routes = bench.ns.routes
    assert not (routes.brokers or routes.clusters or routes.topics or routes.live)
    # One that was never here.
    assert bench.ask(104, commands.UnregisterBroker("x", "192.0.2.2:1", "c9", 1)).code == 0


def test_static_topics_keep_their_mapping(bench: Bench) -> None:
    body = table(*TWO)
    mapping = {"bname": "broker-a", "currIdMap": {0: 0}, "epoch": 3, "topic": "orders"}
    body.topics.mapping_infos = {"orders": mapping}
    bench.register(body=body)
    shown = bench.route("orders")["topicQueueMappingByBroker"]["broker-a"]
    assert shown == {**mapping, "currIdMap": {"0": 0}}
    assert "topicQueueMappingByBroker" not in bench.route("bills")


def test_filter_servers_are_not_shown(bench: Bench) -> None:
    body = table(*TWO)
    body.filter_servers = ["192.0.2.1:30000"]
    bench.register(body=body)
    assert bench.route("orders")["filterServerTable"] == {}


def test_a_zone_s_clients_see_its_brokers(bench: Bench) -> None:
    bench.register(*TWO, zone="west")
    bench.register(*TWO, **OTHER)
    # Without a master, any slave serves.
    bench.register(*TWO, **{**SLAVE, "broker_name": "broker-c", "acting_master": True})

    def seen(**said: Any) -> set[str]:
        route = bench.route("orders", **said)
        queues = {queue["brokerName"] for queue in route["queueDatas"]}
        assert queues == {each["brokerName"] for each in route["brokerDatas"]}
        return queues

    everyone = {"broker-a", "broker-b", "broker-c"}
    assert seen(zone="east", zone_mode=True) == {"broker-b", "broker-c"}
    assert seen(zone="north", zone_mode=True) == {"broker-c"}
    assert seen(zone=" ", zone_mode=True) == seen(zone="east", zone_mode=False) == everyone
    assert bench.route("orders")["brokerDatas"][1]["zoneName"] == "East"


def test_the_lowest_slave_acts_as_master() -> None:
    bench = Bench(acting_master=True)
    members = topic("rmq_sys_SYNC_BROKER_MEMBER_broker-a", 1)
    for said in (MASTER, SLAVE, LATER_SLAVE):
        bench.register(*TWO, members, acting_master=True, **said)

    def addresses(name: str) -> Any:
        return bench.route(name)["brokerDatas"][0]["brokerAddrs"]

    everyone = {"0": "192.0.2.1:10911", "1": "192.0.2.2:10911", "2": "192.0.2.3:10911"}
    assert addresses("orders") == everyone
    bench.ask(104, commands.UnregisterBroker("broker-a", "192.0.2.1:10911", "c1", 0))
    assert addresses("orders") == {"0": "192.0.2.2:10911", "2": "192.0.2.3:10911"}
    assert bench.route("orders")["queueDatas"][0]["perm"] == 4
    # The topic by which brokers find each other tells the truth.
    assert set(addresses(members.name)) == {"1", "2"}
    assert bench.ns.routes.brokers["broker-a"].addresses.keys() == {1, 2}
    bench.register(*TWO, members, acting_master=True)
    assert addresses("orders") == everyone
    assert bench.route("orders")["queueDatas"][0]["perm"] == 6


def test_without_acting_masters_slaves_are_slaves(bench: Bench) -> None:
    bench.register(*TWO, acting_master=True, **SLAVE)
    route = bench.route("orders")
    assert route["brokerDatas"][0]["brokerAddrs"] == {"1": "192.0.2.2:10911"}
    assert route["queueDatas"][0]["perm"] == 4  # Nobody may write to a slave.


def test_topics_that_a_broker_no_longer_names_may_go(bench: Bench) -> None:
    bench.register(*TWO)
    bench.register(topic("orders"), version=2)
    assert names(bench.ask(206)) == {"orders", "bills"}
    bench.ask(318, body=b"deleteTopicWithBrokerRegistration=true")
    bench.register(topic("orders"), version=3)
    assert names(bench.ask(206)) == {"orders"}


def test_a_name_server_may_want_time_to_listen_first() -> None:
    bench = Bench(wait_for_service=True, wait_for_service_s=45)
    bench.register(*TWO)
    early = bench.ask(105, commands.GetRouteInfo("orders"))
    assert (early.code, early.remark) == (1, "name server not ready")
    bench.clock.ms += 45_000
    assert bench.route("orders") and bench.route("bills")


def test_one_way_requests_are_not_answered(bench: Bench) -> None:
    ask = Command(206, 1, flag=ONEWAY_FLAG)
    with pytest.raises(IndexError):
        bench.answer(ask)  # There is no frame to decode.


# 106, 901, 904, 322: what is known of brokers.


def test_cluster_info_has_every_broker(bench: Bench) -> None:
    bench.register(*TWO)
    bench.register(*TWO, **SLAVE)
    bench.register(*TWO, **OTHER)
    answer = bench.ask(106)
    assert b'"brokerAddrs":{0:"192.0.2.1:10911",1:"192.0.2.2:10911"}' in answer.body
    info = read(ClusterInfo, answer)
    assert info.clusters == {"c1": ["broker-a"], "c2": ["broker-b"]}
    assert info.brokers["broker-b"].zone == "East"


def test_a_member_group_has_the_addresses(bench: Bench) -> None:
    bench.register(*TWO)
    answer = bench.ask(901, commands.GetBrokerMemberGroup("c1", "broker-a"))
    assert answer.code == 0
    assert read(MemberGroupAnswer, answer).members.addresses == {0: "192.0.2.1:10911"}
    nobody = bench.ask(901, commands.GetBrokerMemberGroup("c1", "unheard"))
    assert nobody.code == 0
    assert read(MemberGroupAnswer, nobody).members.addresses == {}


def test_data_versions_are_compared(bench: Bench) -> None:
    ask = commands.QueryDataVersion("broker-a", "192.0.2.1:10911", "c1", 0)
    unknown = bench.ask(322, ask, json(DataVersion(0, 1000, 1)))
    assert (unknown.fields, unknown.body) == ({"changed": "true"}, b"")
    bench.register(*TWO)
    same = bench.ask(322, ask, json(DataVersion(0, 1000, 1)))
    assert same.fields == {"changed": "false"}
    assert read(DataVersion, same) == DataVersion(0, 1000, 1)
    for other in (DataVersion(1, 1000, 1), DataVersion(0, 1001, 1), DataVersion(0, 1000, 2)):
        assert bench.ask(322, ask, json(other)).fields == {"changed": "true"}
    assert bench.ask(322, ask, b"nonsense").code == 1


@pytest.mark.parametrize("how", ["register", "version", "heartbeat", "nothing"])
def test_a_sign_of_life_keeps_a_broker(bench: Bench, how: str) -> None:
    bench.register(*TWO, heartbeat_timeout_ms=10_000)
    bench.clock.ms += 9_000
    if how == "register":
        bench.register(*TWO, heartbeat_timeout_ms=10_000)
    elif how == "version":
        ask = commands.QueryDataVersion("broker-a", "192.0.2.1:10911", "c1", 0)
        bench.ask(322, ask, json(DataVersion()))
    elif how == "heartbeat":
        beat = commands.BrokerHeartbeat("c1", "192.0.2.1:10911", "broker-a")
        assert bench.ask(904, beat).code == 0
    bench.clock.ms += 9_000
    bench.ns.sweep()
    assert (bench.route("orders") is None) == (how == "nothing")


def test_a_heartbeat_of_an_unknown_broker_is_no_registration(bench: Bench) -> None:
    assert bench.ask(904, commands.BrokerHeartbeat("c1", "192.0.2.1:1", "broker-a")).code == 0
    assert not bench.ns.routes.live


# 205, 327: permission to write.


def test_wiped_permission_returns_with_a_change(bench: Bench) -> None:
    bench.register(topic("orders", 7), topic("bills"))
    bench.register(*TWO, **OTHER)

    def perms(name: str) -> list[int]:
        return [queue["perm"] for queue in bench.route(name)["queueDatas"]]

    wiped = bench.ask(205, commands.WipeWritePerm("broker-a"))
    assert wiped.fields == {"wipeTopicCount": "2"}
    assert (perms("orders"), perms("bills")) == ([5, 6], [4, 6])
    bench.register(topic("orders", 7), topic("bills"))
    assert perms("orders") == [5, 6]
    bench.register(topic("orders", 7), topic("bills"), version=2)
    assert perms("orders") == [7, 6]
    bench.ask(205, commands.WipeWritePerm("broker-a"))
    added = bench.ask(327, commands.AddWritePerm("broker-a"))
    assert added.fields == {"addTopicCount": "2"}
    assert perms("orders") == [6, 6]
    assert bench.ask(327, commands.AddWritePerm("unheard")).fields == {"addTopicCount": "0"}


# 206, 216, 217, 224, 304, 311 to 313: topics.


def test_topics_are_listed(bench: Bench) -> None:
    assert names(bench.ask(206)) == set()
    bench.register(*TWO)
    bench.register(topic("orders"), topic("elsewhere"), **OTHER)
    assert names(bench.ask(206)) == {"orders", "bills", "elsewhere"}
    assert names(bench.ask(224, commands.GetTopicsByCluster("c2"))) == {"orders", "elsewhere"}
    assert names(bench.ask(224, commands.GetTopicsByCluster("unheard"))) == set()
    system = bench.ask(304)
    assert names(system) == {"c1", "c2", "broker-a", "broker-b"}
    assert read(TopicList, system).broker_address == "192.0.2.1:10911"


def test_units_are_told_apart(bench: Bench) -> None:
    bench.register(*(topic(f"t{flag}", sys_flag=flag) for flag in range(4)))
    assert names(bench.ask(311)) == {"t1", "t3"}
    assert names(bench.ask(312)) == {"t2", "t3"}
    assert names(bench.ask(313)) == {"t2"}


def test_topic_lists_can_be_switched_off() -> None:
    bench = Bench(all_topic_list=False)
    assert (bench.ask(206).code, bench.ask(206).remark) == (1, "disable")
    assert bench.ask(311).code == 0
    bench = Bench(topic_list=False)
    for code in (224, 311, 312, 313):
        header = commands.GetTopicsByCluster("c1") if code == 224 else None
        assert (bench.ask(code, header).code, bench.ask(code, header).remark) == (1, "disable")
    assert bench.ask(206).code == bench.ask(304).code == 0


def test_topics_are_deleted_by_cluster_or_everywhere(bench: Bench) -> None:
    bench.register(*TWO)
    bench.register(*TWO, **OTHER)
    bench.ask(216, commands.DeleteTopicInNameServer("orders", "c2"))
    assert [each["brokerName"] for each in bench.route("orders")["queueDatas"]] == ["broker-a"]
    bench.ask(216, commands.DeleteTopicInNameServer("orders", "unheard"))
    assert bench.route("orders")
    bench.ask(216, commands.DeleteTopicInNameServer("bills"))
    assert bench.route("bills") is None
    assert bench.ask(216, commands.DeleteTopicInNameServer("bills")).code == 0
    # A broker that still has it brings it back, even if it says nothing new.
    bench.register(*TWO)
    assert [each["brokerName"] for each in bench.route("bills")["queueDatas"]] == ["broker-a"]


def test_a_topic_is_added_by_hand(bench: Bench) -> None:
    bench.register(*TWO)
    queues = [QueueData("broker-a", 2, 2, 6)]
    ask = commands.RegisterTopic("more")
    assert bench.ask(217, ask, json(TopicRouteData(queues))).code == 0
    assert bench.route("more")["queueDatas"][0]["readQueueNums"] == 2
    strange = TopicRouteData([*queues, QueueData("unheard", 2, 2, 6)])
    for body in (json(strange), json(TopicRouteData()), b""):
        assert bench.ask(217, commands.RegisterTopic("strange"), body).code == 0
    assert bench.route("strange") is None


# 318, 319: configuration.


def test_configuration_is_shown_and_changed(bench: Bench) -> None:
    def shown() -> dict[str, str]:
        lines = bench.ask(319).body.decode().splitlines()
        assert lines == sorted(lines, key=lambda line: line.partition("=")[0])
        return dict(line.split("=", 1) for line in lines)

    before = shown()
    assert before["listenPort"] == "9876" and before["enableTopicList"] == "true"
    assert before["clientRequestThreadPoolNums"] == "8"
    assert bench.ask(318).code == 0
    assert bench.ask(318, body=b"enableTopicList=false\nwaitSecondsForService = 9\n").code == 0
    assert shown() == {**before, "enableTopicList": "false", "waitSecondsForService": "9"}
    again = Bench(bench.disk)
    assert again.ns.settings.nameserver.wait_for_service_s == 9


@pytest.mark.parametrize(
    "key",
    ["kvConfigPath", "configStorePath", "configBlackList", "rocketmqHome", "listenPort", "noSuch"],
)
def test_paths_and_strange_keys_are_refused(bench: Bench, key: str) -> None:
    before = bench.ask(319).body
    answer = bench.ask(318, body=f"enableTopicList=false\n{key}=/tmp/x\n".encode())
    assert answer.code == ResponseCode.NO_PERMISSION
    assert str(answer.remark).startswith("Can not update config in black list.")
    assert key in str(answer.remark)
    assert bench.ask(319).body == before and not bench.disk.files


@pytest.mark.parametrize(
    "body", [b"\xff\xfe=1", b"waitSecondsForService=soon", b"enableTopicList="]
)
def test_values_that_do_not_parse_are_refused(bench: Bench, body: bytes) -> None:
    before = bench.ask(319).body
    assert bench.ask(318, body=body).code == ResponseCode.SYSTEM_ERROR
    assert bench.ask(319).body == before and not bench.disk.files


def test_the_peer_of_the_last_registration_counts(bench: Bench) -> None:
    first, second = FakePeer("192.0.2.1:1"), FakePeer("192.0.2.1:2")
    bench.register(*TWO, peer=first)
    bench.register(*TWO, peer=second)  # The same bytes over another connection.
    first.close()
    assert bench.route("orders")
    second.close()
    assert bench.route("orders") is None


def test_a_repeated_registration_is_not_read_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask, body = broker(*TWO)
    bench.ask(103, ask, body)

    def never(*_: object, **__: object) -> RegisterBrokerBody:
        raise AssertionError("read again")

    monkeypatch.setattr(registration, "decode", never)
    assert bench.ask(103, ask, body).code == 0
    assert bench.ask(103, ask, body.replace(b"bills", b"bulls")).code == 1


FIELDS = (
    "acceptStandardJsonOnly", "bodyCrc32", "brokerAddr", "brokerId", "brokerName", "cluster",
    "clusterName", "compressed", "enableActingMaster", "haServerAddr", "heartbeatTimeoutMillis",
    "key", "namespace", "topic", "value", "__ZONE_MODE", "__ZONE_NAME",
)  # fmt: skip
texts = st.one_of(st.sampled_from(["0", "1", "-1", "true", "broker-a", "orders"]), st.text())
bodies = st.one_of(
    st.binary(),
    st.sampled_from([broker(*TWO)[1], broker(*TWO, compressed=True)[1], b"{}", b"[" * 9999]),
)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(sorted(SERVED)), st.lists(texts, min_size=17), bodies)))
def test_no_request_makes_a_handler_fail(asks: list[tuple[int, list[str], bytes]]) -> None:
    bench = Bench()
    for code, values, body in asks:
        fields = dict(zip(FIELDS, values, strict=False))
        bench.answer(Command(code, 1, fields=fields, body=body))
    assert bench.server.error_count == 0
