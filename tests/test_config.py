# SPDX-License-Identifier: Apache-2.0
"""Options from every source; what is warned about, what is refused, what may change at run time."""

from dataclasses import fields, replace
from pathlib import Path

import pytest

from eruca import config_keys
from eruca.config import (
    BrokerSettings,
    FlushMode,
    Machine,
    NameserverSettings,
    Role,
    ServerSettings,
    Settings,
    StoreSettings,
)
from eruca.configure import BROKER, NAMESERVER, Reader, as_properties, changed
from eruca.errors import BadField, ConfigError

GOLDEN = Path(__file__).parent / "golden" / "config"
MACHINE = Machine("host-7", "192.0.2.7", "/home/u", "192.0.2.1:9876")
KEYS = [
    each.metadata["key"]
    for part in (ServerSettings, BrokerSettings, StoreSettings, NameserverSettings)
    for each in fields(part)
]


def java_defaults(*classes: str) -> dict[str, str]:
    """Keys and values of RocketMQ 5.5.0's configuration objects, as Java itself printed them."""
    rows = [row.split("\t") for row in (GOLDEN / "java-keys.tsv").read_text().splitlines()]
    return {key: value for kind, key, value in rows if kind in classes}


def read(text: str, parts: tuple[str, ...] = BROKER) -> tuple[Settings, list[str]]:
    reader = Reader(parts)
    reader.properties(text)
    return reader.settings(), reader.warnings


# Defaults.


@pytest.mark.parametrize(
    ("parts", "classes"), [(BROKER, ("A", "NC", "NS", "B", "S")), (NAMESERVER, ("NS", "N"))]
)
def test_every_key_of_java_is_shown_with_javas_default(
    parts: tuple[str, ...], classes: tuple[str, ...]
) -> None:
    shown = as_properties(Settings().on(MACHINE), parts)
    expected = java_defaults(*classes)
    assert expected.keys() <= shown.keys()
    assert all(key.startswith("eruca.") for key in shown.keys() - expected.keys() - NULL_IN_JAVA)
    differing = {key for key, value in expected.items() if shown[key] != value}
    pools = {key for key in expected if key.endswith("ThreadPoolNums")}
    assert differing - pools == DIFFERENT_ON_PURPOSE & expected.keys()


NULL_IN_JAVA = {"storePathCommitLog", "namesrvAddr"}
DIFFERENT_ON_PURPOSE = {
    "brokerName", "brokerIP1", "brokerIP2", "storePathRootDir",  # Machines differ.
    "kvConfigPath", "configStorePath",
    "listenPort",  # Java's start-up puts 10911 and 9876 there, too.
}  # fmt: skip


def test_keys_are_declared_once() -> None:
    assert len(KEYS) == len(set(KEYS)) + 1  # listenPort: of the broker, and of the name server
    for table in (config_keys.BROKER, config_keys.NAMESERVER, config_keys.UNSET):
        assert not set(table) & set(KEYS)
    known = {*config_keys.BROKER, *config_keys.NAMESERVER, *config_keys.UNSET}
    assert known >= config_keys.WITHOUT_EFFECT | config_keys.REFUSED


def test_the_machine_fills_what_was_left_to_it() -> None:
    settings = Settings().on(MACHINE)
    assert (settings.broker.name, settings.broker.address) == ("host-7", "192.0.2.7")
    assert settings.broker.ha_address == "192.0.2.7"
    assert settings.broker.name_server_list == ["192.0.2.1:9876"]
    assert settings.store.log_path == "/home/u/store/commitlog"
    assert settings.store.ha_port == 10912
    assert settings.nameserver.kv_path == "/home/u/namesrv/kvConfig.json"
    assert settings.on(Machine()) == settings


# Reading.


def test_a_users_own_broker_conf_starts_eruca() -> None:
    settings, warnings = read(
        """
        brokerClusterName = DefaultCluster
        brokerName = broker-a
        brokerId = 0
        deleteWhen = 04;16
        fileReservedTime = 48
        brokerRole = ASYNC_MASTER
        flushDiskType = SYNC_FLUSH
        namesrvAddr = 192.0.2.1:9876; 192.0.2.2:9876
        sendMessageThreadPoolNums=16
        autoCreateTopicEnable=FALSE
        rocketmqHome=/opt/rocketmq
        """
    )
    assert warnings == []
    assert settings.broker.name == "broker-a"
    assert settings.broker.name_server_list == ["192.0.2.1:9876", "192.0.2.2:9876"]
    assert settings.store.kept_hours == 48
    assert settings.store.flush_mode is FlushMode.SYNC
    assert settings.broker.auto_create_topic is False


def test_one_key_goes_to_every_part_that_has_it() -> None:
    reader = Reader(("broker", "nameserver"))
    reader.pairs(["listenPort=1234"])
    settings = reader.settings()
    assert settings.broker.listen_port == settings.nameserver.listen_port == 1234


def test_a_part_that_is_not_read_keeps_its_defaults() -> None:
    settings, _ = read("listenPort=1234")
    assert settings.nameserver == NameserverSettings()


def test_the_last_source_wins() -> None:
    reader = Reader(BROKER)
    reader.toml("[store]\nkept_hours = 1\n[broker]\nname = 'b'\nauto_create_topic = false")
    reader.properties("fileReservedTime=2")
    reader.pairs(["fileReservedTime=3"])
    settings = reader.settings()
    assert settings.store.kept_hours == 3
    assert (settings.broker.name, settings.broker.auto_create_topic) == ("b", False)
    assert reader.warnings == []


@pytest.mark.parametrize(
    ("text", "said", "value"),
    [
        ("fileReservedTime=3d", "fileReservedTime: '3d'", ("store", "kept_hours", 72)),
        ("fileReservedTime=", "fileReservedTime: ''", ("store", "kept_hours", 72)),
        ("fileReservedTime=1_0", "fileReservedTime: '1_0'", ("store", "kept_hours", 72)),
        (
            "flushDiskType=SYNC",
            "one of ASYNC_FLUSH, SYNC",
            ("store", "flush_mode", FlushMode.ASYNC),
        ),
        # Java: whatever is not "true" is false.
        ("autoCreateTopicEnable=yes", "'yes'", ("broker", "auto_create_topic", False)),
        ("brokerId=3", "brokerId: 3 for a master", ("broker", "broker_id", 0)),
        ("mapedFileSizeCommitLog=1", "mean mappedFileSizeCommitLog?", ("store", "kept_hours", 72)),
        ("noSuchKey=1", "noSuchKey is not an option", ("store", "kept_hours", 72)),
        ("storeType=defaultRocksDB", "storeType has no effect", ("store", "kept_hours", 72)),
    ],
)
def test_warnings_name_the_key(text: str, said: str, value: tuple[str, str, object]) -> None:
    settings, warnings = read(text)
    part, name, expected = value
    assert getattr(getattr(settings, part), name) == expected
    assert len(warnings) == 1
    assert said in warnings[0]


def test_defaults_of_unused_keys_are_no_news() -> None:
    text = "\n".join(f"{key}={value}" for key, value in config_keys.BROKER.items())
    assert read(text)[1] == []


def test_toml_mistakes_are_warnings() -> None:
    reader = Reader(BROKER)
    reader.toml("broker_name = 'x'\n[broker]\nnaem = 'x'\nbroker_id = 'y'\n[stor]\n")
    assert [warning.split()[0] for warning in reader.warnings] == [
        "[broker_name]",
        "broker.naem",
        "brokerId:",
        "[stor]",
    ]
    assert "did you mean name?" in reader.warnings[1]


# Refusals.


@pytest.mark.parametrize(
    "text",
    [
        "authenticationEnabled=true",
        "aclEnable = true",
        "enableDLegerCommitLog=true",
        "brokerRole=SLAVE\nbrokerId=1",
        "listenPort=70000",
        "fileReservedTime=-1",
        "maxMessageSize=4194304\nmappedFileSizeCommitLog=1048576",
        "brokerName=../../etc",
        "brokerClusterName=..",
        "messageDelayLevel=1x",
        "messageDelayLevel=",
        "deleteWhen=24",
        "defaultMessageRequestMode=PUSH",
        "eruca.writeBufferSizeStop=9\neruca.writeBufferSizeMax=8",
    ],
)
def test_what_is_refused_at_start(text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read(text)
    key = text.replace("\n", "=").split("=")[0].strip()
    assert key in str(refused.value)


def test_an_argument_without_a_value_is_refused() -> None:
    with pytest.raises(ConfigError):
        Reader(BROKER).pairs(["fileReservedTime"])
    with pytest.raises(ConfigError):
        Reader(BROKER).toml("[broker")


# Derived values.


def test_delay_levels_are_times() -> None:
    levels = BrokerSettings(delay_levels="1s 2m 3h 4d").delay_levels_ms
    assert levels == (1000, 120_000, 10_800_000, 345_600_000)
    assert len(BrokerSettings().delay_levels_ms) == 18


# Changes at run time.


def test_a_live_option_changes() -> None:
    settings = changed(
        Settings(), {"fileReservedTime": "48", "litePullMessageEnable": "false"}, BROKER
    )
    assert settings.store.kept_hours == 48
    assert settings.broker.lite_pull is False
    assert as_properties(settings, BROKER)["fileReservedTime"] == "48"


NEVER_LIVE = [
    "brokerName", "brokerIP1", "listenPort", "namesrvAddr", "storePathRootDir",
    "storePathCommitLog", "kvConfigPath", "configStorePath", "eruca.nameserverRoot", "bindAddress",
    "flushDiskType", "flushIntervalCommitLog", "eruca.dirtySizeMax", "brokerRole",
    "checkCRCOnRecover", "configBlackList", "brokerConfigPath", "rocketmqHome", "filterServerNums",
    "aclEnable", "authenticationEnabled", "noSuchKey", "",
]  # fmt: skip


@pytest.mark.parametrize("key", NEVER_LIVE)
def test_paths_ports_and_promises_do_not_change(key: str) -> None:
    before = Settings()
    for parts in (BROKER, NAMESERVER):
        with pytest.raises(ConfigError):
            changed(before, {"fileReservedTime": "1", key: "$(touch x)"}, parts)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("fileReservedTime", "0"),
        ("fileReservedTime", "x"),
        ("deleteWhen", "rm -rf"),
        ("maxMessageSize", "2147483647"),
        ("litePullMessageEnable", "maybe"),
        ("brokerPermission", "8"),
    ],
)
def test_a_bad_value_changes_nothing_and_names_its_key(key: str, value: str) -> None:
    with pytest.raises(BadField, match=key):
        changed(Settings(), {key: value}, BROKER)


def test_settings_do_not_change_in_place() -> None:
    with pytest.raises(AttributeError):
        Settings().store.kept_hours = 1  # type: ignore[misc]
    with pytest.raises(ConfigError):
        replace(StoreSettings(), role=Role.SLAVE)
