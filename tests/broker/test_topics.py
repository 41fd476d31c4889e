# SPDX-License-Identifier: Apache-2.0
"""Topics: those made at start, those made by sends, and what administrators may do."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eruca.broker.topics import Topics
from eruca.config import BrokerSettings
from eruca.errors import BadField
from eruca.wire.bodies import DataVersion, TopicConfig
from eruca.wire.codes import ResponseCode

from .state import FakeClock, golden_file, read_only, state_file

SETTINGS = BrokerSettings(cluster="GoldCluster", name="broker-gold", trace_topic=True)

# Name -> (queues, perm), as a Java broker of 5.5.0 makes them.
AT_START = {
    "SELF_TEST_TOPIC": (1, 6),
    "TBW102": (8, 7),
    "BenchmarkTest": (1024, 6),
    "GoldCluster": (16, 7),
    "broker-gold": (1, 7),
    "OFFSET_MOVED_EVENT": (1, 6),
    "SCHEDULE_TOPIC_XXXX": (18, 6),
    "RMQ_SYS_TRACE_TOPIC": (1, 6),
    "GoldCluster_REPLY_TOPIC": (1, 6),
    "rmq_sys_REVIVE_LOG_GoldCluster": (8, 6),
    "rmq_sys_SYNC_BROKER_MEMBER_broker-gold": (1, 1),
    "RMQ_SYS_TRANS_HALF_TOPIC": (1, 6),
    "RMQ_SYS_TRANS_OP_HALF_TOPIC": (1, 6),
    "RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC": (1, 6),
    "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC": (1, 6),
    "rmq_sys_wheel_timer": (1, 6),
}


@pytest.fixture
def topics(tmp_path: Path) -> Topics:
    return made(tmp_path)


def made(directory: Path, settings: BrokerSettings = SETTINGS) -> Topics:
    made = Topics(settings, state_file(directory), FakeClock())
    made.load()
    return made


# At start.


def test_the_topics_made_at_start(topics: Topics) -> None:
    made = {name: (topic.read_queue_count, topic.perm) for name, topic in topics.table.items()}
    assert made == AT_START
    assert all(each.read_queue_count == each.write_queue_count for each in topics.table.values())


def test_options_decide_about_some(tmp_path: Path) -> None:
    settings = replace(
        SETTINGS,
        auto_create_topic=False, trace_topic=False, timer=False,
        cluster_topic=False, broker_topic=False, revive_queue_count=3,
    )  # fmt: skip
    table = made(tmp_path, settings).table
    assert not {"TBW102", "RMQ_SYS_TRACE_TOPIC", "rmq_sys_wheel_timer"} & table.keys()
    assert table["GoldCluster"].perm == table["broker-gold"].perm == 1
    assert table["rmq_sys_REVIVE_LOG_GoldCluster"].read_queue_count == 3


@pytest.mark.parametrize("store", ["golden-store", "golden-store-ext"])
def test_javas_file_is_read(tmp_path: Path, store: str) -> None:
    file = golden_file(tmp_path, store, "topics.json")
    raw = json.loads(Path(file.path).read_text())
    topics = Topics(SETTINGS, file, FakeClock())
    topics.load()
    assert raw["topicConfigTable"].keys() <= topics.table.keys()
    for name, said in raw["topicConfigTable"].items():
        topic = topics.table[name]
        assert (topic.name, topic.perm, topic.order) == (name, said["perm"], said["order"])
        assert topic.read_queue_count == said["readQueueNums"]
        assert topic.attributes == said["attributes"]
    assert topics.version.counter == raw["dataVersion"]["counter"]
    assert not topics.dirty

    topics.dirty = True
    topics.save_if_dirty()
    again = json.loads(Path(file.path).read_text())
    assert again["dataVersion"] == raw["dataVersion"]
    made_here = again["topicConfigTable"].keys() - raw["topicConfigTable"].keys()
    assert made_here <= AT_START.keys()
    for name, said in raw["topicConfigTable"].items():
        assert again["topicConfigTable"][name] == said


def test_names_that_are_paths_are_left_out(tmp_path: Path) -> None:
    table = {name: {"topicName": name} for name in ("../../x", "a/b", "good", "%RETRY%g+t", "h.o")}
    (tmp_path / "state.json").write_text(json.dumps({"topicConfigTable": table}))
    topics = made(tmp_path)
    assert topics.table.keys() - AT_START.keys() == {"good", "%RETRY%g+t", "h.o"}
    assert topics.file.skipped_count == 2


# Created by use.


def test_a_send_creates_a_topic_like_the_template(topics: Topics) -> None:
    told: list[list[TopicConfig]] = []
    topics.changed = told.append
    before = topics.version
    topic = topics.auto_create("orders", "TBW102", 4)
    assert topic == TopicConfig("orders", 4, 4, 6)
    assert told == [[topic]]
    assert topics.find("orders") is topic
    assert topics.version.counter == before.counter + 1
    assert topics.auto_create("orders", "TBW102", 7) is topic
    assert len(told) == 1


@pytest.mark.parametrize(("asked", "given_"), [(4, 4), (100, 8), (0, 0), (-3, 0)])
def test_queues_are_at_most_the_templates(topics: Topics, asked: int, given_: int) -> None:
    topic = topics.auto_create("orders", "TBW102", asked)
    assert topic is not None
    assert topic.write_queue_count == topic.read_queue_count == given_


@pytest.mark.parametrize("template", ["nothing", "BenchmarkTest", "orders", ""])
def test_no_topic_without_a_template_that_allows_it(topics: Topics, template: str) -> None:
    assert topics.auto_create("orders", template, 4) is None
    assert "orders" not in topics.table


def test_switched_off_also_when_an_old_file_has_the_template(tmp_path: Path) -> None:
    topics = made(tmp_path)
    topics.save_if_dirty()
    again = made(tmp_path, replace(SETTINGS, auto_create_topic=False))
    assert again.find("TBW102") is not None
    assert again.auto_create("orders", "TBW102", 4) is None
    assert again.auto_create("orders", "GoldCluster", 4) is not None  # Java: only TBW102 is off.


@pytest.mark.parametrize("name", ["../../x", "", "a b", "x" * 128, "a/b"])
def test_a_send_cannot_create_a_bad_name(topics: Topics, name: str) -> None:
    assert topics.auto_create(name, "TBW102", 4) is None
    assert name not in topics.table


def test_topics_have_a_limit(tmp_path: Path) -> None:
    topics = made(tmp_path, replace(SETTINGS, topic_count_max=len(AT_START) + 1))
    assert topics.auto_create("one", "TBW102", 1) is not None
    assert topics.auto_create("two", "TBW102", 1) is None
    refusal = topics.update([TopicConfig("two")])
    assert refusal is not None
    assert refusal.code == ResponseCode.INVALID_PARAMETER
    assert topics.update([TopicConfig("one", 3, 3)]) is None
    assert topics.ensure_retry("g", 1).name == "%RETRY%g"  # The broker's own are always made.


def test_retry_and_dead_letter_topics(topics: Topics) -> None:
    assert topics.ensure_retry("g", 3) == TopicConfig("%RETRY%g", 3, 3, 6)
    assert topics.ensure_retry("g", 5).read_queue_count == 3
    assert topics.ensure_retry("u", 1, unit=True).sys_flag == 2
    assert topics.ensure_dead_letter("g") == TopicConfig("%DLQ%g", 1, 1, 6)


def test_a_retry_topic_is_ordered_when_its_group_reads_ordered_topics(topics: Topics) -> None:
    told: list[list[TopicConfig]] = []
    topics.ensure_retry("g", 1)
    topics.changed = told.append
    assert topics.ensure_retry("g", 1, order=True).order
    assert topics.is_ordered("%RETRY%g")
    assert len(told) == 1
    topics.ensure_retry("g", 1, order=True)
    assert len(told) == 1


def test_system_topics(topics: Topics) -> None:
    for name in (*AT_START, "TRANS_CHECK_MAX_TIME_TOPIC", "CHECKPOINT_TOPIC", "rmq_sys_any"):
        assert topics.is_system(name)
    topics.auto_create("orders", "TBW102", 1)
    assert not topics.is_system("orders")
    assert not topics.is_system("%RETRY%g")
    assert "orders" not in topics.system_names()


# Administrators.


def test_create_and_replace(topics: Topics) -> None:
    told: list[list[TopicConfig]] = []
    topics.changed = told.append
    asked = TopicConfig("orders", 4, 6, 2, "MULTI_TAG", 0, True, {"+message.type": "FIFO"})
    assert topics.update([asked]) is None
    created = topics.find("orders")
    assert created == replace(asked, attributes={"message.type": "FIFO"})
    assert topics.update([replace(asked, perm=6, attributes={"-message.type": ""})]) is None
    changed = topics.find("orders")
    assert changed == replace(asked, perm=6, attributes={})
    assert told == [[created], [changed]]


def test_an_update_that_changes_nothing_is_no_change(topics: Topics) -> None:
    topics.update([TopicConfig("orders")])
    version = topics.version
    assert topics.update([TopicConfig("orders")]) is None
    assert topics.version == version


@pytest.mark.parametrize(
    "bad",
    [
        TopicConfig(""),
        TopicConfig("../x"),
        TopicConfig("SCHEDULE_TOPIC_XXXX"),
        TopicConfig("GoldCluster"),
        TopicConfig("rmq_sys_mine"),
        TopicConfig("orders", read_queue_count=1025),
        TopicConfig("orders", write_queue_count=-1),
        TopicConfig("orders", perm=16),
        TopicConfig("orders", perm=-1),
        TopicConfig("orders", filter_type="X"),
        TopicConfig("orders", attributes={"+message.type": "MIXED"}),
    ],
)
def test_what_an_update_refuses(topics: Topics, bad: TopicConfig) -> None:
    before = dict(topics.table)
    refusal = topics.update([TopicConfig("fine"), bad])
    assert refusal is not None
    assert refusal.code == ResponseCode.INVALID_PARAMETER
    assert refusal.remark
    assert topics.table == before  # All of them, or none.


def test_bad_attributes_change_nothing(topics: Topics) -> None:
    with pytest.raises(BadField):
        topics.update([TopicConfig("fine"), TopicConfig("bad", attributes={"+no.such": "1"})])
    assert "fine" not in topics.table


def test_protection_can_be_switched_off(tmp_path: Path) -> None:
    topics = made(tmp_path, replace(SETTINGS, system_topics_protected=False))
    assert topics.update([TopicConfig("TBW102", 2, 2, 7)]) is None
    topics.settings = SETTINGS
    assert topics.refusal("TBW102") is not None


def test_delete_takes_the_retry_topics_of_pop(topics: Topics) -> None:
    for name in ("orders", "%RETRY%g_orders", "%RETRY%g+orders", "%RETRY%h_orders", "%RETRY%g"):
        topics.ensure(name)
    version = topics.version
    assert topics.delete("orders", ["g"]) == ["orders", "%RETRY%g_orders", "%RETRY%g+orders"]
    assert {"%RETRY%h_orders", "%RETRY%g"} <= topics.table.keys()
    assert topics.version.counter == version.counter + 1
    assert topics.delete("orders", ["g"]) == []
    assert topics.version.counter == version.counter + 1


def test_the_name_server_marks_ordered_topics(topics: Topics) -> None:
    topics.ensure("orders")
    topics.mark_ordered(["orders", "unknown"])
    assert topics.is_ordered("orders")
    version = topics.version
    topics.mark_ordered(["orders"])
    topics.mark_ordered([])
    assert topics.version == version
    assert topics.is_ordered("orders")


def test_pages_go_by_name(topics: Topics) -> None:
    everything = sorted(topics.table)
    seen: list[str] = []
    while page := topics.as_table(len(seen), 5).topics:
        assert len(page) <= 5
        seen += page
    assert seen == everything
    assert topics.as_table().topics.keys() == topics.table.keys()
    assert topics.as_table(0, 2**31).data_version == topics.version


# Keeping.


def test_ten_thousand_topics_are_one_save(tmp_path: Path) -> None:
    topics = made(tmp_path)
    for number in range(10_000):
        topics.auto_create(f"topic-{number}", "TBW102", 4)
    assert not (tmp_path / "state.json").exists()
    topics.save_if_dirty()
    assert not topics.dirty
    written = (tmp_path / "state.json").stat().st_mtime_ns
    topics.save_if_dirty()
    assert (tmp_path / "state.json").stat().st_mtime_ns == written
    again = made(tmp_path)
    assert again.table == topics.table
    assert again.version == topics.version


def test_a_save_that_fails_is_tried_again(tmp_path: Path) -> None:
    topics = made(tmp_path)
    with read_only(tmp_path):
        topics.save_if_due()
        assert topics.dirty
    topics.save_if_due()
    assert topics.dirty  # Not at once,
    topics.save_if_dirty()
    assert not topics.dirty  # but whenever it must be.


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("+-=")), max_size=12))
def test_versions_differ_whenever_tables_do(steps: list[tuple[str, str]]) -> None:
    topics = Topics(SETTINGS, state_file(Path("/nowhere")), FakeClock())
    seen: dict[DataVersion, dict[str, TopicConfig]] = {}
    for name, step in steps:
        if step == "+":
            topics.auto_create(name, "TBW102", 4)
        elif step == "-":
            topics.delete(name)
        else:
            topics.update([TopicConfig(name, 2, 2)])
        table = {key: replace(topic) for key, topic in topics.table.items()}
        assert seen.setdefault(topics.version, table) == table
