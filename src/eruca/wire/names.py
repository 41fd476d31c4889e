# SPDX-License-Identifier: Apache-2.0
"""Names of topics and groups: which are allowed, which mean something, how derived ones are built.

    letters, digits, _ - % |       topics up to 127, retry and dead-letter topics 255, groups 120
    %RETRY%group                   messages that the group failed to consume
    %DLQ%group                     messages that it gave up
    %RETRY%group_topic             the same for POP, per topic; a newer form has + instead of _
    %LMQ%name                      a light queue: dispatched to, but not a topic of its own

A name becomes a directory of the store, so `is_safe` is asked of every name, wherever it comes
from.
"""

import re
from typing import Final

RETRY_PREFIX: Final = "%RETRY%"
DEAD_LETTER_PREFIX: Final = "%DLQ%"
LMQ_PREFIX: Final = "%LMQ%"
SYSTEM_TOPIC_PREFIX: Final = "rmq_sys_"
SYSTEM_GROUP_PREFIX: Final = "CID_RMQ_SYS_"

TOPIC_LENGTH_MAX: Final = 127
DERIVED_TOPIC_LENGTH_MAX: Final = 255
GROUP_LENGTH_MAX: Final = 120

TEMPLATE_TOPIC: Final = "TBW102"  # Topics that sends create take their shape from it.
SELF_TEST_TOPIC: Final = "SELF_TEST_TOPIC"
BENCHMARK_TOPIC: Final = "BenchmarkTest"
OFFSET_MOVED_TOPIC: Final = "OFFSET_MOVED_EVENT"
SCHEDULE_TOPIC: Final = "SCHEDULE_TOPIC_XXXX"
TRACE_TOPIC: Final = "RMQ_SYS_TRACE_TOPIC"
HALF_TOPIC: Final = "RMQ_SYS_TRANS_HALF_TOPIC"
OP_HALF_TOPIC: Final = "RMQ_SYS_TRANS_OP_HALF_TOPIC"
ROCKS_HALF_TOPIC: Final = "RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC"
ROCKS_OP_HALF_TOPIC: Final = "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC"
CHECKED_TOO_OFTEN_TOPIC: Final = "TRANS_CHECK_MAX_TIME_TOPIC"
CHECKPOINT_TOPIC: Final = "CHECKPOINT_TOPIC"
TIMER_TOPIC: Final = "rmq_sys_wheel_timer"

NO_SEND_TOPICS: Final = frozenset(
    (
        SCHEDULE_TOPIC,
        HALF_TOPIC,
        OP_HALF_TOPIC,
        ROCKS_HALF_TOPIC,
        ROCKS_OP_HALF_TOPIC,
        CHECKED_TOO_OFTEN_TOPIC,
        SELF_TEST_TOPIC,
        OFFSET_MOVED_TOPIC,
    )
)
SYSTEM_TOPICS: Final = NO_SEND_TOPICS | {
    TEMPLATE_TOPIC,
    BENCHMARK_TOPIC,
    TRACE_TOPIC,
    CHECKPOINT_TOPIC,
}
START_GROUPS: Final = (
    "TOOLS_CONSUMER",
    "FILTERSRV_CONSUMER",
    "SELF_TEST_C_GROUP",
    "CID_ONS-HTTP-PROXY",
    "CID_ONSAPI_PULL",
    "CID_ONSAPI_PERMISSION",
    "CID_ONSAPI_OWNER",
    "CID_RMQ_SYS_TRANS",
)

_ALLOWED: Final = re.compile(r"[%|a-zA-Z0-9_-]+")
_SAFE: Final = re.compile(r"[%|a-zA-Z0-9_-][%|a-zA-Z0-9_.+-]{0,254}")


def topic_problem(name: str) -> str | None:
    """Why no topic may have this name, or None."""
    derived = name.startswith((RETRY_PREFIX, DEAD_LETTER_PREFIX))
    length_max = DERIVED_TOPIC_LENGTH_MAX if derived else TOPIC_LENGTH_MAX
    return _problem("topic", name, length_max)


def group_problem(name: str) -> str | None:
    """Why no group may have this name, or None."""
    return _problem("group", name, GROUP_LENGTH_MAX)


def is_safe(name: str) -> bool:
    """Whether the name can be a directory: wider than what users may choose, never a path."""
    return _SAFE.fullmatch(name) is not None


def retry_topic(group: str) -> str:
    return RETRY_PREFIX + group


def dead_letter_topic(group: str) -> str:
    return DEAD_LETTER_PREFIX + group


def pop_retry_topics(topic: str, group: str) -> tuple[str, str]:
    """The retry topic of a group that pops from `topic`, in its older and its newer form."""
    return f"{RETRY_PREFIX}{group}_{topic}", f"{RETRY_PREFIX}{group}+{topic}"


def reply_topic(cluster: str) -> str:
    return f"{cluster}_REPLY_TOPIC"


def revive_topic(cluster: str) -> str:
    return f"rmq_sys_REVIVE_LOG_{cluster}"


def member_sync_topic(broker_name: str) -> str:
    return f"rmq_sys_SYNC_BROKER_MEMBER_{broker_name}"


def _problem(kind: str, name: str, length_max: int) -> str | None:
    if not name.strip():
        return f"the {kind} has no name"
    if len(name) > length_max:
        return f"{kind} {name[:40]}... is longer than {length_max}"
    if not _ALLOWED.fullmatch(name):
        return f"{kind} {name!r} has characters other than letters, digits, _ - % |"
    return None
