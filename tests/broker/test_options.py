# SPDX-License-Identifier: Apache-2.0
"""Options read and changed while the broker runs."""

from pathlib import Path

import pytest

from eruca.store.disk import Disk
from eruca.wire.codes import RequestCode, ResponseCode
from eruca.wire.header import Command
from eruca.wire.javaproperties import read_properties

from .here import Bench, Link, consumer
from .test_administration import make, pull, send


def change(link: Link, text: str) -> Command:
    return link.ask(RequestCode.UPDATE_BROKER_CONFIG, None, text.encode())


def options(link: Link) -> dict[str, str]:
    return read_properties(link.ask(RequestCode.GET_BROKER_CONFIG).body.decode())


def test_all_options_are_shown(link: Link) -> None:
    answer = link.ask(RequestCode.GET_BROKER_CONFIG)
    values = read_properties(answer.body.decode())
    assert values["brokerName"] == "broker-g"
    assert values["fileReservedTime"] == "72"
    assert list(values) == sorted(values)
    assert '"counter"' in answer.fields["version"]


def test_a_change_reaches_the_parts(bench: Bench, link: Link) -> None:
    text = (
        "fileReservedTime=48\nautoCreateTopicEnable=false\nmaxTransferCountOnMessageInMemory=5\n"
        "maxMessageSize=1000\npullBatchMaxMessageCount=7\nuseServerSideResetOffset=false\n"
    )
    assert change(link, text).code == 0
    broker = bench.broker
    assert broker.settings is broker.topics.settings is broker.groups.settings
    assert not broker.topics.settings.auto_create_topic
    assert not broker.offsets.settings.server_side_reset
    assert broker.store.settings.kept_hours == 48
    assert broker.store.limits.memory_count == 5
    assert broker.hot.pull_count_max == 7
    assert options(link)["fileReservedTime"] == "48"


def test_the_hot_path_obeys_at_once(bench: Bench, link: Link) -> None:
    make(link, "orders")
    assert send(link).code == 0
    change(link, "maxMessageSize=3")
    assert send(link).code == ResponseCode.MESSAGE_ILLEGAL
    change(link, "maxMessageSize=4")
    assert send(link).code == 0
    link.beat(consumer("billing", "orders"))
    assert link.ask(RequestCode.PULL_MESSAGE, pull()).code == 0
    change(link, "brokerPermission=2")
    assert link.ask(RequestCode.PULL_MESSAGE, pull()).code == ResponseCode.NO_PERMISSION


def test_a_change_outlives_the_broker(tmp_path: Path) -> None:
    with Bench(tmp_path) as bench:
        change(bench.link(), "fileReservedTime=48\n")
        change(bench.link(), "litePullMessageEnable=false\n")
    with Bench(tmp_path, kept_hours=99) as bench:
        assert bench.broker.store.settings.kept_hours == 48
        assert not bench.broker.settings.lite_pull


def test_a_kept_option_that_no_longer_fits_is_left_out(tmp_path: Path) -> None:
    with Bench(tmp_path) as bench:
        change(bench.link(), "fileReservedTime=48\n")
    kept = tmp_path / "store" / "config" / "broker.properties"
    kept.write_text(kept.read_text() + "nonsense=1\npullBatchMaxMessageCount=-5\n")
    with Bench(tmp_path) as bench:
        assert bench.broker.store.settings.kept_hours == 48
        assert bench.broker.store.settings.pull_count_max == 160


@pytest.mark.parametrize("key", ["brokerConfigPath", "storePathRootDir", "listenPort", "nonsense"])
def test_what_may_not_be_changed(bench: Bench, link: Link, key: str) -> None:
    before = bench.broker.all_settings
    answer = change(link, f"fileReservedTime=48\n{key}=1\n")
    assert answer.code == ResponseCode.NO_PERMISSION
    assert answer.remark is not None and key in answer.remark
    assert bench.broker.all_settings is before


@pytest.mark.parametrize(
    "text", ["fileReservedTime=x", "fileReservedTime=0", "maxMessageSize=99999999"]
)
def test_what_does_not_fit(bench: Bench, link: Link, text: str) -> None:
    before = bench.broker.all_settings
    assert change(link, text).code == ResponseCode.SYSTEM_ERROR
    assert bench.broker.all_settings is before


def test_bytes_that_are_no_text(link: Link) -> None:
    answer = link.ask(RequestCode.UPDATE_BROKER_CONFIG, None, b"\xff\xfe=1")
    assert answer.code == ResponseCode.SYSTEM_ERROR


def test_nothing_to_change(link: Link) -> None:
    assert change(link, "").code == 0


def test_a_disk_that_refuses(bench: Bench, link: Link, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Disk, path: str, data: bytes, *, keep_backup: bool = False) -> None:
        raise OSError(28, "No space left on device")

    before = bench.broker.all_settings
    with monkeypatch.context() as patched:
        patched.setattr(Disk, "replace", full)
        assert change(link, "fileReservedTime=48").code == ResponseCode.SYSTEM_ERROR
    assert bench.broker.all_settings is before
