# SPDX-License-Identifier: Apache-2.0
"""What the tests of the broker's state share: a clock that stands still, peers without sockets."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from eruca.broker.persisted import StateFile
from eruca.clock import Clock
from eruca.net.peer import Peer
from eruca.store.disk import Disk

GOLDEN = Path(__file__).parent.parent / "golden" / "config"


class FakeClock(Clock):
    """Time that moves when a test says so."""

    def __init__(self) -> None:
        self.ms = 1_800_000_000_000

    def now_ms(self) -> int:
        return self.ms

    def mono_ms(self) -> int:
        return self.ms


class FakePeer:
    """A connection, as far as state looks at it."""

    def __init__(self, address: str = "192.0.2.9:5000") -> None:
        self.address = address
        self.closed = False
        self.language = 0
        self.version = 513


def peer(address: str = "192.0.2.9:5000") -> Peer:
    return cast(Peer, FakePeer(address))


def state_file(directory: Path, name: str = "state.json", clock: Clock | None = None) -> StateFile:
    return StateFile(Disk(), str(directory / name), clock or FakeClock())


def golden_file(directory: Path, store: str, name: str) -> StateFile:
    """A copy of a file that a Java broker wrote."""
    (directory / name).write_bytes((GOLDEN / store / name).read_bytes())
    return state_file(directory, name)


@contextmanager
def read_only(directory: Path) -> Iterator[None]:
    """Make a save fail: a directory stands where the new content is written first."""
    in_the_way = [Path(f"{path}.tmp") for path in (directory / "state.json",)]
    for path in in_the_way:
        path.mkdir()
    yield
    for path in in_the_way:
        path.rmdir()
