# SPDX-License-Identifier: Apache-2.0
"""What processes cost, from /proc, and the server that is measured when none is named.

On systems without /proc the costs are unknown (None); the rest works.
"""

import asyncio
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from eruca.clock import Clock
from eruca.errors import Unreachable
from eruca.net.address import free_port
from eruca.net.dial import dial
from eruca.wire import header

START_MS_MAX: Final = 30_000
STOP_S_MAX: Final = 30
TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Target:
    """A broker under test. Without a process id its costs are unknown."""

    address: str
    pid: int | None
    start_seconds: float | None = None

    def cpu_seconds(self) -> float | None:
        return cpu_seconds(self.pid)

    def own_mib(self) -> float | None:
        return own_mib(self.pid)


class Meter:
    """What passes between `start` and `stop`: time, and the processor time of both sides."""

    def __init__(self, target: Target, clock: Clock) -> None:
        self.target = target
        self.clock = clock
        self.seconds = 0.0
        self.server_seconds: float | None = None
        self.own_seconds: float | None = None

    def start(self) -> None:
        self._own = cpu_seconds(os.getpid())
        self._server = self.target.cpu_seconds()
        self._begin_ns = self.clock.mono_ns()

    def passed_ns(self) -> int:
        return self.clock.mono_ns() - self._begin_ns

    def stop(self) -> None:
        self.seconds = self.passed_ns() / 1e9
        server, own = self.target.cpu_seconds(), cpu_seconds(os.getpid())
        if server is not None and self._server is not None:
            self.server_seconds = server - self._server
        if own is not None and self._own is not None:
            self.own_seconds = own - self._own


def cpu_seconds(pid: int | None) -> float | None:
    """The processor time that a process has used, its threads included."""
    stat = _proc(pid, "stat")
    if stat is None:
        return None
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / TICKS


def own_mib(pid: int | None) -> float | None:
    """The memory that is a process's own: resident, without the pages of mapped files."""
    for line in (_proc(pid, "status") or "").splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1024
    return None


def _proc(pid: int | None, name: str) -> str | None:
    if pid is None:
        return None
    try:
        return Path(f"/proc/{pid}/{name}").read_text()
    except OSError:  # There is no /proc, or the process has just ended.
        return None


def described() -> dict[str, object]:
    """What the figures depend on."""
    compiled = not (header.__file__ or ".py").endswith(".py")
    return {
        "python": platform.python_version(),
        "compiled": compiled,
        "loop": type(asyncio.get_running_loop()).__module__.partition(".")[0],
        "cores": os.cpu_count(),
        "machine": platform.machine(),
    }


@asynccontextmanager
async def own_server(clock: Clock, settings: Sequence[str]) -> AsyncIterator[Target]:
    """`eruca up` on free ports, in a directory of its own that vanishes afterwards."""
    nameserver_port, port = free_port(), free_port()
    data = tempfile.mkdtemp(prefix="eruca-bench-")
    words = ["up", "--data", data, "--port", str(port), "--nameserver-port", str(nameserver_port)]
    for setting in settings:
        words += ["--set", setting]
    begin_ms = clock.mono_ms()
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "eruca", *words, stdout=asyncio.subprocess.DEVNULL
    )
    try:
        address = f"127.0.0.1:{port}"
        await _listens(address, server, clock)
        yield Target(address, server.pid, (clock.mono_ms() - begin_ms) / 1000)
    finally:
        if server.returncode is None:
            server.terminate()
            try:
                await asyncio.wait_for(server.wait(), STOP_S_MAX)
            except TimeoutError:
                server.kill()
        shutil.rmtree(data, ignore_errors=True)


async def _listens(address: str, server: asyncio.subprocess.Process, clock: Clock) -> None:
    deadline_ms = clock.mono_ms() + START_MS_MAX
    while clock.mono_ms() < deadline_ms:
        if server.returncode is not None:
            raise Unreachable(f"`eruca up` ended with {server.returncode}")
        try:
            (await dial(address)).close()
            return
        except Unreachable:
            await clock.sleep_ms(10)
    raise Unreachable(f"{address} did not listen within {START_MS_MAX} ms")
