# SPDX-License-Identifier: Apache-2.0
"""Groups put elsewhere."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eruca.wire import commands, javajson
from eruca.wire.codes import Language, RequestCode, ResponseCode
from eruca.wire.fields import MessageQueue, from_json
from eruca.wire.header import Command
from eruca.wire.reports import CorrectionOffsets, ResetOffsets, ResetOffsetsForCpp

from .here import Bench, Link, consumer, read

TOPIC, GROUP = "orders", "billing"


@pytest.fixture
def began_ms(bench: Bench) -> int:
    """Two queues: three messages 10 ms apart, and one. The group has read two of the first."""
    return filled(bench)


def filled(bench: Bench) -> int:
    bench.topic(TOPIC, 2)
    bench.broker.groups.ensure(GROUP)
    began_ms = bench.clock.ms
    for _ in range(3):
        bench.put(TOPIC)
        bench.clock.ms += 10
    bench.put(TOPIC, queue_id=1)
    bench.broker.offsets.commit(GROUP, TOPIC, 0, 2)
    bench.broker.offsets.commit(GROUP, TOPIC, 1, 1)
    return began_ms


def reset(link: Link, ms: int, **more: Any) -> Command:
    header = commands.ResetOffset(
        more.pop("group", GROUP), more.pop("topic", TOPIC), ms, True, **more
    )
    return link.ask(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, header)


def places(answer: Command) -> dict[int, int]:
    found = read(ResetOffsets, answer).offsets
    assert {(each.topic, each.broker_name) for each in found} == {(TOPIC, "broker-g")}
    return {queue.queue_id: offset for queue, offset in found.items()}


def pull(link: Link, offset: int) -> Command:
    header = commands.PullMessage(GROUP, TOPIC, 0, offset, 32, 0, 0, 0, 0)
    return link.ask(RequestCode.PULL_MESSAGE, header)


def test_to_a_time(bench: Bench, link: Link, began_ms: int) -> None:
    assert places(reset(link, began_ms + 5)) == {0: 1, 1: 0}
    assert places(reset(link, 0)) == {0: 0, 1: 0}
    assert places(reset(link, -1)) == {0: 3, 1: 1}
    assert places(reset(link, 0, queue_id=1)) == {1: 0}
    assert bench.broker.offsets.of(GROUP, TOPIC) == {0: 3, 1: 0}


@pytest.mark.parametrize(("offset", "code"), [(-2, 1), (0, 0), (3, 0), (4, 0), (5, 1)])
def test_to_an_offset_of_one_queue(link: Link, began_ms: int, offset: int, code: int) -> None:
    answer = reset(link, 0, queue_id=0, offset=offset)
    assert answer.code == code
    if code == 0:
        assert places(answer) == {0: offset}


def test_the_consumer_learns_it_from_its_next_pull(bench: Bench, link: Link, began_ms: int) -> None:
    link.beat(consumer(GROUP, TOPIC))
    assert pull(link, 2).code == 0
    reset(link, 0)
    commit = commands.UpdateConsumerOffset(GROUP, TOPIC, 0, 3)
    ignored = link.ask(RequestCode.UPDATE_CONSUMER_OFFSET, commit)
    assert (ignored.code, ignored.remark) == (0, "Offset has been previously reset")
    moved = pull(link, 3)
    assert (moved.code, moved.remark) == (ResponseCode.PULL_OFFSET_MOVED, "OFFSET_RESET")
    assert moved.fields["nextBeginOffset"] == "0"
    assert pull(link, 0).code == 0
    assert link.ask(RequestCode.UPDATE_CONSUMER_OFFSET, commit).remark is None
    assert bench.broker.offsets.find(GROUP, TOPIC, 0) == 3


def test_what_cannot_be_reset(bench: Bench, link: Link, began_ms: int) -> None:
    assert reset(link, 0, topic="nowhere").code == ResponseCode.TOPIC_NOT_EXIST
    assert reset(link, 0, group="a b").code == ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST


# By the clients.


@pytest.fixture
def apart(tmp_path: Path) -> Iterator[Bench]:
    with Bench(tmp_path, server_side_reset=False) as bench:
        yield bench


def test_clients_are_told_to_move(apart: Bench) -> None:
    began_ms = filled(apart)
    link = apart.link()
    assert reset(link, 0).code == ResponseCode.CONSUMER_NOT_ONLINE
    java, cpp = apart.link(), apart.link()
    java.beat(consumer(GROUP, TOPIC))
    cpp.beat(consumer(GROUP, TOPIC), client_id="c@2", language=Language.CPP)
    for each in (java, cpp):
        each.read()
        each.pushed.clear()
    assert places(reset(link, began_ms + 5)) == {0: 1, 1: 0}
    said = pushed(java)
    assert (said.fields["topic"], said.fields["group"]) == (TOPIC, GROUP)
    to_java = from_json(ResetOffsets, javajson.loads(said.body))
    assert to_java.offsets[MessageQueue(TOPIC, "broker-g", 0)] == 1
    to_cpp = from_json(ResetOffsetsForCpp, javajson.loads(pushed(cpp).body))
    assert {each.queue_id: each.offset for each in to_cpp.offsets} == {0: 1, 1: 0}


def pushed(link: Link) -> Command:
    link.read()
    [said] = link.pushed
    assert said.code == RequestCode.RESET_CONSUMER_CLIENT_OFFSET and said.is_oneway
    return said


def test_clients_are_not_moved_forward_unless_forced(apart: Bench) -> None:
    filled(apart)
    link = apart.link()
    link.beat(consumer(GROUP, TOPIC))
    header = commands.ResetOffset(GROUP, TOPIC, -1, False)
    answer = link.ask(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, header)
    assert places(answer) == {0: 2, 1: 1}
    apart.broker.offsets.remove_group(GROUP)
    assert reset(link, 0).code == ResponseCode.SYSTEM_ERROR
    assert reset(link, 0, topic="nowhere").code == ResponseCode.SYSTEM_ERROR


# Copies and comparisons.


def test_a_group_goes_where_another_is(bench: Bench, link: Link, began_ms: int) -> None:
    offsets = bench.broker.offsets
    offsets.commit(GROUP, "nowhere", 0, 1)
    for topic, target in ((TOPIC, "copy"), (None, "all"), ("nowhere", "none")):
        header = commands.CloneGroupOffset(GROUP, target, topic)
        assert link.ask(RequestCode.CLONE_GROUP_OFFSET, header).code == 0
    assert offsets.of("copy", TOPIC) == offsets.of("all", TOPIC) == {0: 2, 1: 1}
    assert not offsets.topics_of("none") and offsets.topics_of("all") == [TOPIC]


def test_only_what_an_online_group_reads_is_copied(bench: Bench, link: Link, began_ms: int) -> None:
    link.beat(consumer(GROUP, "another"))
    for offline, copied in ((False, {}), (True, {0: 2, 1: 1})):
        header = commands.CloneGroupOffset(GROUP, "copy", TOPIC, offline)
        link.ask(RequestCode.CLONE_GROUP_OFFSET, header)
        assert bench.broker.offsets.of("copy", TOPIC) == copied


def test_the_lowest_offset_of_all_groups(bench: Bench, link: Link, began_ms: int) -> None:
    bench.broker.offsets.commit("slow", TOPIC, 0, 1)
    code = RequestCode.QUERY_CORRECTION_OFFSET

    def lowest(compared: str, without: str | None = None) -> dict[int, int]:
        header = commands.QueryCorrectionOffset(compared, TOPIC, without)
        return read(CorrectionOffsets, link.ask(code, header)).offsets

    assert lowest("nobody") == {0: 1, 1: 1}
    assert lowest("nobody", f"slow,{GROUP}x") == {0: 2, 1: 1}
    assert lowest("slow") == {0: 1, 1: 1}
    assert lowest("slow", "slow") == {0: 2**63 - 1, 1: 1}
    assert bench.broker.offsets.find("slow", TOPIC, 0) == 1  # Java forgets it here.
