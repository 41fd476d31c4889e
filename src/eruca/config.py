# SPDX-License-Identifier: Apache-2.0
"""Every option of the servers: Eruca's name, Java's key, default, range.

One line per option declares all of it; conf/eruca.toml is the manual, and a test compares the two.
A default left empty is filled by `Settings.on(machine)`: the host's name, its address, the home
directory. Options that Java does not have get keys that begin with `eruca.`, so one file can serve
both systems. Units are Java's too. What contradicts itself is refused with ConfigError when it is
made; configure.py reads files and makes changes at run time.
"""

import re
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, Final

from eruca.errors import ConfigError

_INT32_MAX: Final = 2**31 - 1
_PLAIN_NAME: Final = re.compile(r"[%|a-zA-Z0-9_-][%|a-zA-Z0-9_.-]*")
_DELAY: Final = re.compile(r"\d{1,9}[smhd]")
_UNIT_MS: Final = {"s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_RECORD_OVERHEAD: Final = 512  # The fixed fields, the longest topic, the blank at a file's end.


def setting(
    key: str, default: Any, low: float = 0, high: float = 2**63 - 1, *, live: bool = False
) -> Any:
    """An option with its Java key. `live`: it may be changed while the server runs."""
    about = {"key": key, "low": low, "high": high, "live": live}
    return field(default=default, metadata=about)


def _check_ranges(part: Any) -> None:
    for about in fields(part):
        value, meta = getattr(part, about.name), about.metadata
        if isinstance(value, int) and not meta["low"] <= value <= meta["high"]:
            raise ConfigError(f"{meta['key']}: {value} is not in {meta['low']}..{meta['high']}")


class FlushMode(StrEnum):
    """When a send is answered: once it is in the page cache, or once it is on the disk."""

    ASYNC = "ASYNC_FLUSH"
    SYNC = "SYNC_FLUSH"


class Role(StrEnum):
    """A master's SYNC means that its sends wait for slaves."""

    ASYNC_MASTER = "ASYNC_MASTER"
    SYNC_MASTER = "SYNC_MASTER"
    SLAVE = "SLAVE"


@dataclass(frozen=True, slots=True)
class Machine:
    """What only the machine can say; whoever starts a process asks it."""

    host_name: str = "broker-a"
    address: str = "127.0.0.1"
    home: str = "."
    name_servers: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerSettings:
    """The listening side of any server."""

    bind_address: str = setting("bindAddress", "0.0.0.0")
    backlog_max: int = setting("serverSocketBacklog", 1024, 1)
    idle_s_max: int = setting("serverChannelMaxIdleTimeSeconds", 120)
    send_buffer_size: int = setting("serverSocketSndBufSize", 0)
    receive_buffer_size: int = setting("serverSocketRcvBufSize", 0)
    frame_size_max: int = setting("eruca.frameSizeMax", 16 * 1024 * 1024, 65_536, _INT32_MAX)
    first_frame_ms_max: int = setting("eruca.firstFrameMillisMax", 10_000, 1)
    frame_ms_max: int = setting("eruca.frameMillisMax", 30_000, 1)
    connection_count_max: int = setting("eruca.connectionCountMax", 4096, 1)
    host_connection_count_max: int = setting("eruca.hostConnectionCountMax", 512, 1)
    write_buffer_size_stop: int = setting("eruca.writeBufferSizeStop", 8 * 1024 * 1024, 1)
    write_buffer_size_max: int = setting("eruca.writeBufferSizeMax", 64 * 1024 * 1024, 1)

    def __post_init__(self) -> None:
        _check_ranges(self)
        if self.write_buffer_size_stop > self.write_buffer_size_max:
            raise ConfigError("eruca.writeBufferSizeStop is above eruca.writeBufferSizeMax")


@dataclass(frozen=True, kw_only=True, slots=True)
class BrokerSettings:
    """Who the broker is, what it allows, how it treats topics, groups and clients."""

    cluster: str = setting("brokerClusterName", "DefaultCluster")
    name: str = setting("brokerName", "")
    broker_id: int = setting("brokerId", 0)
    address: str = setting("brokerIP1", "")
    ha_address: str = setting("brokerIP2", "")
    listen_port: int = setting("listenPort", 10911, 0, 65535)
    name_servers: str = setting("namesrvAddr", "")
    register_interval_ms: int = setting("registerNameServerPeriod", 30_000, 1, live=True)
    register_wait_ms: int = setting("registerBrokerTimeoutMills", 24_000, 1, live=True)
    perm: int = setting("brokerPermission", 6, 0, 7, live=True)
    region: str = setting("regionId", "DefaultRegion")
    trace_on: bool = setting("traceOn", True)

    auto_create_topic: bool = setting("autoCreateTopicEnable", True, live=True)
    default_topic_queue_count: int = setting("defaultTopicQueueNums", 8, 1, 65535, live=True)
    cluster_topic: bool = setting("clusterTopicEnable", True)
    broker_topic: bool = setting("brokerTopicEnable", True)
    trace_topic: bool = setting("traceTopicEnable", False)
    trace_topic_name: str = setting("msgTraceTopicName", "RMQ_SYS_TRACE_TOPIC")
    system_topics_protected: bool = setting("validateSystemTopicWhenUpdateTopic", True, live=True)
    mixed_message_type: bool = setting("enableMixedMessageType", False, live=True)
    delete_pop_retry_topics: bool = setting("clearRetryTopicWhenDeleteTopic", True, live=True)
    topic_count_max: int = setting("eruca.topicCountMax", 100_000, 1, live=True)
    topic_queue_count_max: int = setting("eruca.topicQueueCountMax", 1024, 1, 65535, live=True)
    auto_create_group: bool = setting("autoCreateSubscriptionGroup", True, live=True)
    auto_create_system_group: bool = setting("enableCreateSysGroup", True, live=True)
    group_count_max: int = setting("eruca.groupCountMax", 20_000, 1, live=True)

    long_polling: bool = setting("longPollingEnable", True, live=True)
    short_poll_ms: int = setting("shortPollingTimeMills", 1000, 1, 60_000, live=True)
    held_pull_count_max: int = setting("eruca.heldPullCountMax", 65_536, 1)
    peer_held_pull_count_max: int = setting("eruca.peerHeldPullCountMax", 1024, 1)
    lite_pull: bool = setting("litePullMessageEnable", True, live=True)
    reject_pull_consumer: bool = setting("rejectPullConsumerEnable", False, live=True)
    slave_read: bool = setting("slaveReadEnable", False, live=True)
    property_filter: bool = setting("enablePropertyFilter", False, live=True)
    filter_retry: bool = setting("filterSupportRetry", False, live=True)
    offset_save_interval_ms: int = setting("flushConsumerOffsetInterval", 5000, 1)
    offset_version_step: int = setting("consumerOffsetUpdateVersionStep", 500, 1)
    server_side_reset: bool = setting("useServerSideResetOffset", True, live=True)
    lmq: bool = setting("enableLmq", False)

    notify_members: bool = setting("notifyConsumerIdsChangedEnable", True, live=True)
    notify_at_once: bool = setting("realTimeNotifyConsumerChange", True, live=True)
    member_silence_ms_max: int = setting("channelExpiredTimeout", 120_000, 1, live=True)
    server_balance: bool = setting("serverLoadBalancerEnable", True, live=True)
    request_mode: str = setting("defaultMessageRequestMode", "PULL")
    pop_share_queue_count: int = setting("defaultPopShareQueueNum", -1, -1)

    delay_levels: str = setting(
        "messageDelayLevel", "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"
    )
    delay_save_interval_ms: int = setting("flushDelayOffsetInterval", 10_000, 1)
    timer: bool = setting("timerWheelEnable", True)
    reject_transactions: bool = setting("rejectTransactionMessage", False, live=True)
    transaction_silence_ms: int = setting("transactionTimeOut", 6000, 0, live=True)
    transaction_check_count_max: int = setting("transactionCheckMax", 15, 1, live=True)
    transaction_check_interval_ms: int = setting("transactionCheckInterval", 30_000, 1, live=True)
    store_replies: bool = setting("storeReplyMessageEnable", True, live=True)
    revive_queue_count: int = setting("reviveQueueNum", 8, 1, 1024)

    def __post_init__(self) -> None:
        _check_ranges(self)
        for key, name in (("brokerName", self.name), ("brokerClusterName", self.cluster)):
            if name and not _PLAIN_NAME.fullmatch(name):  # Both become names of topics.
                raise ConfigError(f"{key}: {name!r} has characters that no topic may have")
        if self.request_mode not in ("PULL", "POP"):
            raise ConfigError(f"defaultMessageRequestMode: {self.request_mode} is not PULL or POP")
        levels = self.delay_levels.split()
        if not levels or not all(_DELAY.fullmatch(level) for level in levels):
            raise ConfigError(
                f"messageDelayLevel: {self.delay_levels!r} is not a list like '1s 5m'"
            )

    @property
    def delay_levels_ms(self) -> tuple[int, ...]:
        """How long each delay level waits; level 1 comes first."""
        return tuple(int(level[:-1]) * _UNIT_MS[level[-1]] for level in self.delay_levels.split())

    @property
    def name_server_list(self) -> list[str]:
        return [each.strip() for each in self.name_servers.split(";") if each.strip()]


@dataclass(frozen=True, kw_only=True, slots=True)
class StoreSettings:
    """Files: where, how large, when they are synced, when they go."""

    root: str = setting("storePathRootDir", "")
    log_path: str = setting("storePathCommitLog", "")
    segment_size: int = setting("mappedFileSizeCommitLog", 1024**3, 4096, _INT32_MAX)
    queue_segment_size: int = setting("mappedFileSizeConsumeQueue", 6_000_000, 20, _INT32_MAX)
    index_slot_count: int = setting("maxHashSlotNum", 5_000_000, 1, _INT32_MAX)
    index_entry_count: int = setting("maxIndexNum", 20_000_000, 2, _INT32_MAX)
    index: bool = setting("messageIndexEnable", True)
    message_size_max: int = setting("maxMessageSize", 4 * 1024 * 1024, 1, _INT32_MAX, live=True)
    topic_length_max: int = setting("maxTopicLength", 127, 1, 127)

    flush_mode: FlushMode = setting("flushDiskType", FlushMode.ASYNC)
    flush_interval_ms: int = setting("flushIntervalCommitLog", 500, 1)
    flush_page_count: int = setting("flushCommitLogLeastPages", 4)
    flush_interval_ms_max: int = setting("flushCommitLogThoroughInterval", 10_000, 1)
    dirty_size_max: int = setting("eruca.dirtySizeMax", 64 * 1024 * 1024, 1)
    sync_flush_ms_max: int = setting("syncFlushTimeout", 5000, 1)
    queue_flush_interval_ms: int = setting("flushIntervalConsumeQueue", 1000, 1)

    kept_hours: int = setting("fileReservedTime", 72, 1, live=True)
    delete_hours: str = setting("deleteWhen", "04", live=True)
    disk_percent_max: int = setting("diskMaxUsedSpaceRatio", 75, 1, 100, live=True)
    disk_percent_clean: int = setting("diskSpaceCleanForciblyRatio", 85, 1, 100, live=True)
    disk_percent_refuse: int = setting("diskSpaceWarningLevelRatio", 90, 1, 100, live=True)
    clean_by_force: bool = setting("cleanFileForciblyEnable", True, live=True)
    clean_interval_ms: int = setting("cleanResourceInterval", 10_000, 1)
    delete_count_max: int = setting("deleteFileBatchMax", 10, 1, live=True)

    memory_pull_size_max: int = setting(
        "maxTransferBytesOnMessageInMemory", 262_144, 1, _INT32_MAX, live=True
    )
    memory_pull_count_max: int = setting("maxTransferCountOnMessageInMemory", 32, 1, live=True)
    disk_pull_size_max: int = setting(
        "maxTransferBytesOnMessageInDisk", 65_536, 1, _INT32_MAX, live=True
    )
    disk_pull_count_max: int = setting("maxTransferCountOnMessageInDisk", 8, 1, live=True)
    memory_percent: int = setting("accessMessageInMemoryMaxRatio", 40, 1, 100, live=True)
    pull_count_max: int = setting("pullBatchMaxMessageCount", 160, 1, 1024, live=True)
    query_count_max: int = setting("maxMsgsNumBatch", 64, 1, 1024, live=True)
    unique_query_count_max: int = setting("defaultQueryMaxNum", 32, 1, 1024, live=True)

    check_crc: bool = setting("checkCRCOnRecover", True)
    role: Role = setting("brokerRole", Role.ASYNC_MASTER)
    ha_port: int = setting("haListenPort", 0, 0, 65535)

    def __post_init__(self) -> None:
        _check_ranges(self)
        if self.message_size_max + _RECORD_OVERHEAD > self.segment_size:
            raise ConfigError(
                f"maxMessageSize {self.message_size_max} does not fit into a file of "
                f"mappedFileSizeCommitLog {self.segment_size}"
            )
        hours = self.delete_hours.split(";")
        if not all(hour.strip().isdecimal() and int(hour) < 24 for hour in hours):
            raise ConfigError(
                f"deleteWhen: {self.delete_hours!r} is not a list of hours like '04;16'"
            )
        if self.role is Role.SLAVE:
            raise ConfigError("brokerRole: SLAVE is not served: there is no replication yet")


@dataclass(frozen=True, kw_only=True, slots=True)
class NameserverSettings:
    """Where the name server keeps its files, and what it tells whom."""

    listen_port: int = setting("listenPort", 9876, 0, 65535)
    root: str = setting("eruca.nameserverRoot", "")
    kv_path: str = setting("kvConfigPath", "")
    config_path: str = setting("configStorePath", "")
    scan_interval_ms: int = setting("scanNotActiveBrokerInterval", 5000, 1)
    order_topics: bool = setting("orderMessageEnable", False, live=True)
    order_topics_to_brokers: bool = setting("returnOrderTopicConfigToBroker", True, live=True)
    acting_master: bool = setting("supportActingMaster", False, live=True)
    notify_min_broker_id: bool = setting("notifyMinBrokerIdChanged", False, live=True)
    all_topic_list: bool = setting("enableAllTopicList", True, live=True)
    topic_list: bool = setting("enableTopicList", True, live=True)
    registration_deletes_topics: bool = setting(
        "deleteTopicWithBrokerRegistration", False, live=True
    )
    wait_for_service: bool = setting("needWaitForService", False, live=True)
    wait_for_service_s: int = setting("waitSecondsForService", 45, live=True)
    cluster_test: bool = setting("clusterTest", False)
    environment: str = setting("productEnvName", "center")

    def __post_init__(self) -> None:
        _check_ranges(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """All that one process was told. A server uses the parts that concern it."""

    server: ServerSettings = ServerSettings()
    broker: BrokerSettings = BrokerSettings()
    store: StoreSettings = StoreSettings()
    nameserver: NameserverSettings = NameserverSettings()

    def on(self, machine: Machine) -> "Settings":
        """The same with what was left to the machine."""
        broker, store, nameserver = self.broker, self.store, self.nameserver
        address = broker.address or machine.address
        root = store.root or f"{machine.home}/store"
        nameserver_root = nameserver.root or f"{machine.home}/namesrv"
        return replace(
            self,
            broker=replace(
                broker,
                name=broker.name or machine.host_name,
                address=address,
                ha_address=broker.ha_address or address,
                name_servers=broker.name_servers or machine.name_servers,
            ),
            store=replace(
                store,
                root=root,
                log_path=store.log_path or f"{root}/commitlog",
                # Java: the broker's own port + 1, unless it is set.
                ha_port=store.ha_port or broker.listen_port + 1,
            ),
            nameserver=replace(
                nameserver,
                root=nameserver_root,
                kv_path=nameserver.kv_path or f"{nameserver_root}/kvConfig.json",
                config_path=nameserver.config_path or f"{nameserver_root}/namesrv.properties",
            ),
        )
