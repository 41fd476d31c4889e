# SPDX-License-Identifier: Apache-2.0
"""Which client may consume which queue in order: one, by a lock that it keeps refreshing.

Clients ask again every 20 s; a lock not asked for in 60 s is free. Nothing is stored: after a
restart whoever asks first gets the queue. Code 41 locks, 42 unlocks, and a send-back asks whether
a group holds any lock.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from eruca.wire.fields import MessageQueue

LOCK_MS_MAX: Final = 60_000


@dataclass(slots=True)
class Lock:
    client_id: str
    asked_ms: int

    def is_free(self, now_ms: int) -> bool:
        return now_ms - self.asked_ms > LOCK_MS_MAX


class Locks:
    """Group -> queue -> its lock."""

    def __init__(self) -> None:
        self._groups: dict[str, dict[MessageQueue, Lock]] = {}

    def lock(
        self, group: str, client_id: str, queues: Iterable[MessageQueue], now_ms: int
    ) -> list[MessageQueue]:
        """The queues that the client now holds: free ones, and those it held before."""
        locks = self._groups.setdefault(group, {})
        held = []
        for queue in queues:
            lock = locks.get(queue)
            if lock is None or lock.client_id == client_id or lock.is_free(now_ms):
                locks[queue] = Lock(client_id, now_ms)
                held.append(queue)
        return held

    def unlock(self, group: str, client_id: str, queues: Iterable[MessageQueue]) -> None:
        """Free those of the queues that the client holds."""
        locks = self._groups.get(group, {})
        for queue in queues:
            lock = locks.get(queue)
            if lock is not None and lock.client_id == client_id:
                del locks[queue]

    def is_any_held(self, group: str, now_ms: int) -> bool:
        return any(not lock.is_free(now_ms) for lock in self._groups.get(group, {}).values())

    def is_held_by(self, group: str, client_id: str, queue: MessageQueue, now_ms: int) -> bool:
        lock = self._groups.get(group, {}).get(queue)
        return lock is not None and lock.client_id == client_id and not lock.is_free(now_ms)

    def expire(self, now_ms: int) -> None:
        """Forget free locks, so that a group that is gone leaves nothing behind."""
        for group, locks in list(self._groups.items()):
            for queue in [queue for queue, lock in locks.items() if lock.is_free(now_ms)]:
                del locks[queue]
            if not locks:
                del self._groups[group]
