# SPDX-License-Identifier: Apache-2.0
"""How topics, groups and the broker are doing."""

import pytest

from eruca.wire import commands
from eruca.wire.bodies import KVTable
from eruca.wire.codes import RequestCode, ResponseCode
from eruca.wire.fields import MessageQueue
from eruca.wire.reports import (
    BrokerStatsData,
    ConsumeOffset,
    ConsumeStats,
    ConsumeStatsList,
    ConsumeTimeSpans,
    HARuntimeInfo,
    TopicOffset,
    TopicStatsTable,
)

from .here import NOW_MS, Bench, Link, consumer, read

TOPIC, GROUP = "orders", "billing"


def queue(queue_id: int, topic: str = TOPIC) -> MessageQueue:
    return MessageQueue(topic, "broker-g", queue_id)


@pytest.fixture
def played(bench: Bench) -> Bench:
    """Queue 0 has messages stored at 0, 10 and 20 ms; queue 1 has none. The group has read two."""
    bench.topic(TOPIC, 2)
    bench.broker.groups.ensure(GROUP)
    for after_ms in (0, 10, 10):
        bench.put(TOPIC, after_ms=after_ms)
    bench.broker.offsets.commit(GROUP, TOPIC, 0, 2)
    bench.broker.offsets.commit_pull(GROUP, TOPIC, 0, 3)
    return bench


def test_a_topic(played: Bench) -> None:
    link = played.link()
    answer = link.ask(RequestCode.GET_TOPIC_STATS_INFO, commands.GetTopicStats(TOPIC))
    table = read(TopicStatsTable, answer)
    assert table.offsets == {
        queue(0): TopicOffset(0, 3, NOW_MS + 20),
        queue(1): TopicOffset(0, 0, 0),
    }
    assert table.put_tps > 0
    nowhere = link.ask(RequestCode.GET_TOPIC_STATS_INFO, commands.GetTopicStats("nowhere"))
    assert (nowhere.code, nowhere.remark) == (
        ResponseCode.TOPIC_NOT_EXIST,
        "topic[nowhere] not exist",
    )


def stats(link: Link, topic: str | None = None, topics: str | None = None) -> ConsumeStats:
    header = commands.GetConsumeStats(GROUP, topic, topics)
    return read(ConsumeStats, link.ask(RequestCode.GET_CONSUME_STATS, header))


def test_a_group(played: Bench) -> None:
    link = played.link()
    both = {queue(0): ConsumeOffset(3, 2, 3, NOW_MS + 10), queue(1): ConsumeOffset(0, 0, 0, 0)}
    assert stats(link).offsets == stats(link, TOPIC).offsets == both
    assert stats(link, "", f"{TOPIC};nowhere").offsets == both
    assert stats(link, "nowhere").offsets == {}


def test_an_online_group_is_asked_about_what_it_reads(played: Bench) -> None:
    link = played.link()
    played.topic("another")
    link.beat(consumer(GROUP, "another"))
    assert stats(link).offsets == stats(link, TOPIC).offsets == {}
    assert list(stats(link, "another").offsets) == [queue(0, "another")]
    assert queue(0) in stats(link, None, TOPIC).offsets


def test_a_group_s_speed(played: Bench) -> None:
    link = played.link()
    link.beat(consumer(GROUP, TOPIC))
    header = commands.PullMessage(GROUP, TOPIC, 0, 0, 32, 0, 0, 0, 0)
    assert link.ask(RequestCode.PULL_MESSAGE, header).code == 0
    assert stats(link).consume_tps == pytest.approx(0.3, rel=0.1)


def test_all_groups(played: Bench) -> None:
    link = played.link()
    header = commands.GetBrokerConsumeStats(False)
    found = read(ConsumeStatsList, link.ask(RequestCode.GET_BROKER_CONSUME_STATS, header))
    by_group = {name: each for entry in found.stats for name, each in entry.items()}
    assert set(by_group) == set(played.broker.groups.table)
    assert [set(each.offsets) for each in by_group[GROUP]] == [{queue(0), queue(1)}]
    assert (found.total_diff, found.total_inflight_diff) == (1, 1)
    assert found.broker_address == "127.0.0.1:10911"
    ordered = commands.GetBrokerConsumeStats(True)
    found = read(ConsumeStatsList, link.ask(RequestCode.GET_BROKER_CONSUME_STATS, ordered))
    assert (found.total_diff, {GROUP: []} in found.stats) == (0, True)


def test_times_of_a_group(played: Bench) -> None:
    link = played.link()
    played.clock.ms += 100
    header = commands.QueryConsumeTimeSpan(TOPIC, GROUP)
    answer = link.ask(RequestCode.QUERY_CONSUME_TIME_SPAN, header)
    first, second = read(ConsumeTimeSpans, answer).spans
    assert (first.min_ms, first.max_ms, first.consume_ms) == (NOW_MS, NOW_MS + 20, NOW_MS + 10)
    assert first.delay_ms == 100
    assert first.min_text is not None and first.min_text.endswith(":000")
    assert (second.min_ms, second.max_ms, second.consume_ms, second.delay_ms) == (-1, -1, -1, 0)
    nowhere = commands.QueryConsumeTimeSpan("nowhere", GROUP)
    answer = link.ask(RequestCode.QUERY_CONSUME_TIME_SPAN, nowhere)
    assert answer.code == ResponseCode.TOPIC_NOT_EXIST


def test_a_group_that_never_came_is_late_from_the_first_message_on(played: Bench) -> None:
    header = commands.QueryConsumeTimeSpan(TOPIC, "never")
    answer = played.link().ask(RequestCode.QUERY_CONSUME_TIME_SPAN, header)
    first = read(ConsumeTimeSpans, answer).spans[0]
    assert (first.consume_ms, first.delay_ms) == (NOW_MS, 20)


# The broker.


def table(link: Link) -> dict[str, str]:
    return read(KVTable, link.ask(RequestCode.GET_BROKER_RUNTIME_INFO)).table


def test_an_empty_broker(link: Link) -> None:
    values = table(link)
    assert values["brokerVersionDesc"] == "V5_5_0"
    assert values["commitLogMaxOffset"] == values["msgPutTotalTodayNow"] == "0"
    assert values["earliestMessageTimeStamp"] == "-1"
    assert values["putTps"] == "0.0 0.0 0.0"
    assert values["putMessageAverageSize"] == "0.0"


def test_a_broker_with_messages(played: Bench) -> None:
    played.clock.ms += 90_000_000
    values = table(played.link())
    assert values["msgPutTotalTodayNow"] == "3"
    assert int(values["commitLogMaxOffset"]) == played.broker.store.log.end > 0
    assert int(values["putMessageSizeTotal"]) == played.broker.store.log.end
    assert values["earliestMessageTimeStamp"] == str(NOW_MS)
    assert values["bootTimestamp"] == str(NOW_MS)
    assert values["runtime"] == "[ 1 days, 1 hours, 0 minutes, 0 seconds ]"
    assert 0 < float(values["commitLogDiskRatio"]) < 1


def test_tools_can_compute_with_the_rates(played: Bench) -> None:
    values = table(played.link())
    for key in ("putTps", "getTransferredTps", "getFoundTps", "getMissTps", "getTotalTps"):
        assert len([float(each) for each in values[key].split()]) == 3


def test_an_item_of_the_statistics(played: Bench) -> None:
    link = played.link()

    def item(name: str, key: str) -> BrokerStatsData | None:
        answer = link.ask(
            RequestCode.VIEW_BROKER_STATS_DATA, commands.ViewBrokerStatsData(name, key)
        )
        if answer.code != 0:
            assert answer.remark == f"The stats <{name}> <{key}> not exist"
            return None
        return read(BrokerStatsData, answer)

    found = item("TOPIC_PUT_NUMS", TOPIC)
    assert found is not None and found.minute.sum == 3
    assert item("TOPIC_PUT_NUMS", "nowhere") is None


def test_replication_of_a_master_without_slaves(played: Bench) -> None:
    info = read(HARuntimeInfo, played.link().ask(RequestCode.GET_BROKER_HA_STATUS))
    assert info.master and info.log_offset_max == played.broker.store.log.end
    assert info.connections == []
