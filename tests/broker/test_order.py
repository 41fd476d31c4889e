# SPDX-License-Identifier: Apache-2.0
"""Locks of ordered consumers."""

from eruca.broker.order import LOCK_MS_MAX, Locks
from eruca.wire.fields import MessageQueue

Q0, Q1 = (MessageQueue("t", "broker-a", queue_id) for queue_id in (0, 1))


def test_a_queue_has_one_holder() -> None:
    locks = Locks()
    assert locks.lock("g", "a", [Q0], 0) == [Q0]
    assert locks.lock("g", "b", [Q0, Q1], 1) == [Q1]
    assert locks.lock("g", "a", [Q0, Q1], 2) == [Q0]
    assert locks.lock("h", "b", [Q0], 2) == [Q0]  # Another group is another matter.
    assert locks.is_held_by("g", "a", Q0, 3)
    assert not locks.is_held_by("g", "a", Q1, 3)


def test_only_the_holder_unlocks() -> None:
    locks = Locks()
    locks.lock("g", "a", [Q0], 0)
    locks.unlock("g", "b", [Q0])
    assert locks.lock("g", "b", [Q0], 1) == []
    locks.unlock("g", "a", [Q0, Q1])
    locks.unlock("nobody", "a", [Q0])
    assert locks.lock("g", "b", [Q0], 1) == [Q0]


def test_a_lock_that_is_not_refreshed_is_free() -> None:
    locks = Locks()
    locks.lock("g", "a", [Q0], 0)
    assert locks.lock("g", "b", [Q0], LOCK_MS_MAX) == []
    assert locks.is_any_held("g", LOCK_MS_MAX)
    assert not locks.is_any_held("g", LOCK_MS_MAX + 1)
    assert not locks.is_held_by("g", "a", Q0, LOCK_MS_MAX + 1)
    assert locks.lock("g", "b", [Q0], LOCK_MS_MAX + 1) == [Q0]


def test_refreshing_keeps_it() -> None:
    locks = Locks()
    for now_ms in range(0, 5 * LOCK_MS_MAX, LOCK_MS_MAX):
        assert locks.lock("g", "a", [Q0], now_ms) == [Q0]
        assert locks.lock("g", "b", [Q0], now_ms) == []


def test_free_locks_are_forgotten() -> None:
    locks = Locks()
    locks.lock("g", "a", [Q0], 0)
    locks.lock("g", "b", [Q1], LOCK_MS_MAX)
    locks.expire(LOCK_MS_MAX + 1)
    assert not locks.is_held_by("g", "a", Q0, 0)
    assert locks.is_held_by("g", "b", Q1, LOCK_MS_MAX + 1)
    locks.expire(3 * LOCK_MS_MAX)
    assert not locks.is_any_held("g", LOCK_MS_MAX)
