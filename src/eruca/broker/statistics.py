# SPDX-License-Identifier: Apache-2.0
"""How many messages came and went within the last minute, hour and day.

The store counts what comes into a topic, the hot path what a group is given of one. Those counters
are looked at every ten seconds and remembered where they changed, so a topic costs memory as it
has life. Many topics are looked at a few at a time, so that nobody waits. Counts begin with the
process.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar, final

from eruca.broker.hot import Fetched
from eruca.clock import Clock, Timer
from eruca.store.files import local_hour
from eruca.store.writer import TopicQueues
from eruca.wire.reports import BrokerStatsData, BrokerStatsItem

Key = TypeVar("Key")
Counter = TypeVar("Counter")

LOOK_MS: Final = 10_000
STEP_COUNT: Final = 500
STEP_MS: Final = 1
NEVER: Final = 1 << 62

# How far back, and how far apart the counts are that are kept for it.
MINUTE: Final = (60_000, LOOK_MS)
HOUR: Final = (3_600_000, 600_000)
DAY: Final = (86_400_000, 3_600_000)
TEN_SECONDS: Final = (10_000, LOOK_MS)
TEN_MINUTES: Final = (600_000, LOOK_MS)


@dataclass(frozen=True, slots=True)
class Count:
    """What a counter was at some time."""

    ms: int
    count: int
    size: int


@dataclass(frozen=True, slots=True)
class Growth:
    count: int
    size: int
    per_second: float


@final
class Series:
    """One counter over some spans of time: of each, the counts within it and the last before."""

    __slots__ = ("_due_ms", "_spans", "last")

    def __init__(self, first: Count, *spans: tuple[int, int]) -> None:
        self.last = first
        self._spans = {span: [first] for span in spans}
        self._due_ms = NEVER

    def wants(self, count: int, now_ms: int) -> bool:
        """Whether there is something to note: a change, or an old count to forget."""
        return count != self.last.count or now_ms >= self._due_ms

    def note(self, now: Count) -> None:
        """Remember `now`. A counter that stands still needs no memory."""
        self.last = now
        due_ms = NEVER
        for (span_ms, step_ms), counts in self._spans.items():
            newest = counts[-1]
            if now.count != newest.count:
                if now.ms - newest.ms >= step_ms:
                    counts.append(now)
                else:
                    due_ms = min(due_ms, newest.ms + step_ms)
            while len(counts) > 1 and counts[1].ms <= now.ms - span_ms:
                del counts[0]
            if len(counts) > 1:
                due_ms = min(due_ms, counts[1].ms + span_ms)
        self._due_ms = due_ms

    def growth(self, span: tuple[int, int], now: Count) -> Growth:
        """What came within the span that ends now."""
        span_ms, step_ms = span
        counts = self._spans[span]
        base = counts[0]
        began_ms = base.ms
        if began_ms < now.ms - span_ms:  # It stood still until it was seen to change.
            changed_ms = counts[1].ms if len(counts) > 1 else now.ms
            began_ms = min(now.ms - span_ms, max(began_ms, changed_ms - step_ms))
        count = now.count - base.count
        return Growth(count, now.size - base.size, count * 1000 / max(1, now.ms - began_ms))


@final
class Family(Generic[Key, Counter]):
    """All counters of one kind. `total` is their sum, as of the last look; it never falls."""

    def __init__(
        self,
        counters: Mapping[Key, Counter],
        read: Callable[[Counter], tuple[int, int]],
        now_ms: int,
    ) -> None:
        self._counters = counters
        self._read = read
        self._first = Count(now_ms, 0, 0)
        self._series: dict[Key, Series] = {}
        self._sum = self._first
        self.total = Series(self._first, MINUTE, HOUR, DAY, TEN_SECONDS, TEN_MINUTES)
        self.until_today = 0  # Of the total, what came before today.
        self.until_yesterday = 0

    def look(self, now_ms: int) -> Iterator[None]:
        """Note every counter; a pause after some of them."""
        for number, (key, counter) in enumerate(list(self._counters.items()), 1):
            count, size = self._read(counter)
            found = self._series.get(key)
            if count and (found is None or found.wants(count, now_ms)):
                self._note(key, Count(now_ms, count, size))
            if number % STEP_COUNT == 0:
                yield
        for key in self._series.keys() - self._counters.keys():
            del self._series[key]
        self.total.note(replace(self._sum, ms=now_ms))

    def new_day(self) -> None:
        self.until_yesterday, self.until_today = self.until_today, self.total.last.count

    def growth(self, key: Key, span: tuple[int, int], now_ms: int) -> Growth | None:
        """What came within the span; None for what never had anything."""
        now = self._now(key, now_ms)
        if now is None:
            return None
        found = self._series.get(key)
        if found is None or found.last.count > now.count:
            found = Series(self._first, span)
        return found.growth(span, now)

    def _now(self, key: Key, now_ms: int) -> Count | None:
        counter = self._counters.get(key)
        count, size = (0, 0) if counter is None else self._read(counter)
        return Count(now_ms, count, size) if count else None

    def _note(self, key: Key, now: Count) -> None:
        found = self._series.get(key)
        if found is None or found.last.count > now.count:  # New, or deleted and made again.
            found = self._series[key] = Series(self._first, MINUTE, HOUR, DAY)
        before, so_far = found.last, self._sum
        self._sum = Count(
            now.ms, so_far.count + now.count - before.count, so_far.size + now.size - before.size
        )
        found.note(now)


@final
class Statistics:
    """What came into topics, and what groups were given ("topic@group")."""

    def __init__(
        self, topics: Mapping[bytes, TopicQueues], fetched: Mapping[str, Fetched], clock: Clock
    ) -> None:
        self._clock = clock
        now_ms = clock.now_ms() - LOOK_MS  # Java: what came first came within ten seconds.
        self.put = Family(topics, lambda each: (int(each.put_count), int(each.put_size)), now_ms)
        self.given = Family(fetched, lambda each: (int(each.count), int(each.size)), now_ms)
        self._hour = local_hour(clock.now_ms())
        self._looking: Iterator[None] = iter(())
        self._timer: Timer | None = None

    def look(self) -> None:
        """Look at all counters, a few at a time."""
        self._looking = self._look()
        self._step()

    def look_now(self) -> None:
        """Look at all of them at once."""
        for _ in self._look():
            pass

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def put_per_second(self, topic: str) -> float:
        """In the last minute, as for groups."""
        growth = self.put.growth(topic.encode(), MINUTE, self._clock.now_ms())
        return growth.per_second if growth else 0.0

    def given_per_second(self, group: str, topic: str) -> float:
        growth = self.given.growth(f"{topic}@{group}", MINUTE, self._clock.now_ms())
        return growth.per_second if growth else 0.0

    def report(self, name: str, key: str) -> BrokerStatsData | None:
        """An item by Java's name for it and for its key; None when there is nothing."""
        now_ms = self._clock.now_ms()
        what, _, unit = name.rpartition("_")
        if unit not in ("NUMS", "SIZE"):
            return None
        items = []
        for span in (MINUTE, HOUR, DAY):
            if what == "TOPIC_PUT":
                growth = self.put.growth(key.encode(), span, now_ms)
            elif what == "GROUP_GET":
                growth = self.given.growth(key, span, now_ms)
            elif what in ("BROKER_PUT", "BROKER_GET"):
                total = self.put.total if what == "BROKER_PUT" else self.given.total
                growth = total.growth(span, replace(total.last, ms=now_ms))
            else:
                growth = None
            if growth is None:
                return None
            items.append(_item(growth, unit))
        return BrokerStatsData(*items)

    def _step(self) -> None:
        for _ in self._looking:
            self._timer = self._clock.call_later_ms(STEP_MS, self._step)
            return

    def _look(self) -> Iterator[None]:
        now_ms = self._clock.now_ms()
        yield from self.put.look(now_ms)
        yield from self.given.look(now_ms)
        hour = local_hour(now_ms)
        if hour == 0 and self._hour != 0:
            self.put.new_day()
            self.given.new_day()
        self._hour = hour


def _item(growth: Growth, unit: str) -> BrokerStatsItem:
    if unit == "NUMS":
        each = 1.0 if growth.count else 0.0
        return BrokerStatsItem(growth.count, growth.per_second, each)
    each = growth.size / growth.count if growth.count else 0.0
    return BrokerStatsItem(growth.size, growth.per_second * each, each)
