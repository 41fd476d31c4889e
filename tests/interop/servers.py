# SPDX-License-Identifier: Apache-2.0
"""Name servers and brokers as processes, Java's and Eruca's behind one face.

`Servers.up(kind)` gives a Cluster: a name server, a broker registered with it, and what a test
needs to know of them. `Servers.nameserver` and `Servers.broker` give the parts, for mixed clusters
and for starting one kind on the directory of the other. Every broker gets the same settings,
whoever reads them.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from . import raw
from .java_home import JavaHome

PROJECT = Path(__file__).parents[2]
START_LIMIT_S = 60
STOP_LIMIT_S = 30
JAVA_STOPPED = 128 + signal.SIGTERM  # A JVM that ran its shutdown hooks after SIGTERM.

# Below the range the kernel takes outgoing ports from.
PORTS = range(12_000, 30_000)
_random = random.Random(os.getpid())


def until(condition: Callable[[], bool], what: str, limit_s: float = 20) -> None:
    """Wait until `condition` holds. An error of a connection counts as "not yet"."""
    deadline = time.monotonic() + limit_s
    while True:
        try:
            if condition():
                return
        except OSError:
            pass
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {limit_s} s: {what}")
        time.sleep(0.02)


def free_port() -> int:
    """A port P that is free together with the neighbours a Java broker takes: P-2 and P+1."""
    while True:
        port = _random.choice(PORTS)
        if all(_is_free(port + step) for step in (-2, 0, 1)):
            return port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def eruca_command() -> list[str] | None:
    """`eruca` as the tests are to run it: $ERUCA, or what `make build` leaves."""
    given = os.environ.get("ERUCA")
    if given:
        return given.split()
    built = PROJECT / ".venv" / "bin" / "eruca"
    return [str(built)] if built.exists() else None


@dataclass(slots=True)
class Process:
    """One server process."""

    name: str
    command: list[str]
    home: Path
    stopped_code: int  # What it exits with after a polite stop.
    environment: dict[str, str] = field(default_factory=dict)
    _running: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> Path:
        return self.home / f"{self.name}.out"

    def start(self, port: int) -> None:
        with self.log.open("ab") as out:
            self._running = self._spawned(out)
        until(lambda: self._listens(port), f"{self.name} listens on {port}", START_LIMIT_S)

    def _spawned(self, out: IO[bytes]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            cwd=self.home,
            env=os.environ | self.environment,
            start_new_session=True,
        )

    def _listens(self, port: int) -> bool:
        assert self._running is not None
        code = self._running.poll()
        assert code is None, f"{self.name} ended with {code}: {self.tail()}"
        with raw.dialled(f"127.0.0.1:{port}"):
            return True

    @property
    def running(self) -> bool:
        return self._running is not None and self._running.poll() is None

    def stop(self) -> None:
        """SIGTERM; a wrong exit code or no exit at all is an error of the server."""
        if self._running is None:
            return
        running, self._running = self._running, None
        assert running.poll() is None, f"{self.name} had ended already: {self.tail()}"
        running.terminate()
        try:
            code = running.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()
            raise AssertionError(f"{self.name} did not stop in {STOP_LIMIT_S} s") from None
        assert code == self.stopped_code, f"{self.name} ended with {code}: {self.tail()}"

    def kill(self) -> None:
        if self._running is not None:
            self._running.kill()
            self._running.wait()
            self._running = None

    def tail(self) -> str:
        return self.log.read_text(errors="replace")[-2000:]


@dataclass(slots=True)
class Cluster:
    """A name server and a broker, ready."""

    kind: str
    nameserver: str
    broker: str
    broker_name: str
    cluster_name: str
    processes: list[Process]  # In start order.
    before_stop: list[Callable[[], None]] = field(default_factory=list)

    def stop(self) -> None:
        """Eruca politely, and its exit code counts; Java at once, for its broker takes 17 s."""
        self.say_goodbye()
        for process in reversed(self.processes):
            if process.stopped_code == JAVA_STOPPED:
                process.kill()
            else:
                process.stop()

    def say_goodbye(self) -> None:
        """Let go of what was kept for this cluster: clients of a dead one ask for it for ever."""
        for leave in self.before_stop:
            leave()
        self.before_stop.clear()

    def route(self, topic: str) -> bool:
        """Whether the name server knows the topic."""
        return raw.call(self.nameserver, raw.GET_ROUTE, {"topic": topic}).code == 0

    def routed_as(self, topic: str, queues: int, perm: int) -> bool:
        """Whether it knows the topic, and knows it like this."""
        body = raw.call(self.nameserver, raw.GET_ROUTE, {"topic": topic}).body
        wanted = {"perm": perm, "readQueueNums": queues, "writeQueueNums": queues}
        return all(b'"%s":%d' % (key.encode(), value) in body for key, value in wanted.items())


def broker_settings(port: int, nameserver: str, root: Path) -> dict[str, str]:
    """For tests: small files, retries after a second, no refusal because the machine is slow."""
    return {
        "brokerClusterName": "DefaultCluster",
        "brokerName": "broker-a",
        "brokerId": "0",
        "brokerIP1": "127.0.0.1",
        "listenPort": str(port),
        "haListenPort": str(port + 1),
        "namesrvAddr": nameserver,
        "storePathRootDir": str(root),
        "storePathCommitLog": str(root / "commitlog"),
        "mappedFileSizeCommitLog": str(16 << 20),
        "mappedFileSizeConsumeQueue": str(20 * 20_000),
        "maxHashSlotNum": "50000",
        "maxIndexNum": "200000",
        "messageDelayLevel": " ".join(["1s"] * 18),
        "enablePropertyFilter": "true",
        "brokerFastFailureEnable": "false",
        "osPageCacheBusyTimeOutMills": "10000",
        "diskMaxUsedSpaceRatio": "95",
    }


class Servers:
    """Starts servers below one directory and stops whatever still runs at the end."""

    def __init__(self, java: JavaHome, directory: Path) -> None:
        self._java = java
        self._directory = directory
        self._started: list[Process] = []

    def close(self) -> None:
        for process in reversed(self._started):
            process.kill()

    def fresh(self, name: str) -> Path:
        """A new directory."""
        path = self._directory / f"{len(list(self._directory.iterdir())):02}-{name}"
        path.mkdir()
        return path

    def up(self, kind: str, settings: Mapping[str, str] | None = None) -> Cluster:
        if kind == "eruca":
            return self._eruca_up(dict(settings or {}))
        nameserver_port = free_port()
        nameserver = self.nameserver(kind, nameserver_port)
        port = free_port()
        conf = broker_settings(port, f"127.0.0.1:{nameserver_port}", self.fresh("store"))
        broker = self.broker(kind, conf | dict(settings or {}))
        return _ready(kind, conf, [nameserver, broker])

    def _eruca_up(self, settings: dict[str, str]) -> Cluster:
        nameserver_port, port = free_port(), free_port()
        home = self.fresh("eruca")
        conf = broker_settings(port, f"127.0.0.1:{nameserver_port}", home / "data" / "store")
        for key in ("namesrvAddr", "storePathRootDir", "storePathCommitLog"):
            settings[key] = ""  # `up` knows these itself.
        given = {key: value for key, value in (conf | settings).items() if value != ""}
        command = ["up", "--data", str(home / "data"), "--nameserver-port", str(nameserver_port)]
        for key, value in given.items():
            command += ["--set", f"{key}={value}"]
        process = self._start("up", self._eruca(*command), home, port, stopped_code=0)
        return _ready("eruca", conf, [process])

    def mixed(self, nameserver_kind: str, broker_kind: str) -> Cluster:
        """The name server of one kind under a broker of the other."""
        nameserver_port, port = free_port(), free_port()
        nameserver = self.nameserver(nameserver_kind, nameserver_port)
        conf = broker_settings(port, f"127.0.0.1:{nameserver_port}", self.fresh("store"))
        broker = self.broker(broker_kind, conf)
        return _ready(
            f"{broker_kind} broker, {nameserver_kind} name server", conf, [nameserver, broker]
        )

    def nameserver(self, kind: str, port: int) -> Process:
        home = self.fresh(f"{kind}-nameserver")
        if kind == "eruca":
            command = self._eruca("nameserver", "--port", str(port), "--data", str(home / "data"))
            return self._start("nameserver", command, home, port, stopped_code=0)
        conf = home / "namesrv.conf"
        conf.write_text(f"listenPort={port}\nkvConfigPath={home}/kvConfig.json\n")
        main_class = "org.apache.rocketmq.namesrv.NamesrvStartup"
        return self._start_java("nameserver", main_class, conf, home, port, heap="128m")

    def broker(self, kind: str, settings: Mapping[str, str]) -> Process:
        """A broker on these settings; it listens, but may not be registered yet."""
        home = self.fresh(f"{kind}-broker")
        conf = home / "broker.conf"
        conf.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        port = int(settings["listenPort"])
        if kind == "eruca":
            command = self._eruca("broker", "-c", str(conf))
            return self._start("broker", command, home, port, stopped_code=0)
        main_class = "org.apache.rocketmq.broker.BrokerStartup"
        return self._start_java("broker", main_class, conf, home, port, heap="512m")

    def cluster_of(self, kind: str, settings: Mapping[str, str], broker: Process) -> Cluster:
        """The cluster that a restarted broker belongs to; its name server is not part of it."""
        return _ready(kind, settings, [broker])

    def _eruca(self, *args: str) -> list[str]:
        command = eruca_command()
        assert command is not None
        return [*command, *args]

    def _start_java(
        self, name: str, main_class: str, conf: Path, home: Path, port: int, heap: str
    ) -> Process:
        command = self._java.command(
            main_class, "-c", str(conf), home=home, heap=heap, properties={}
        )
        return self._start(name, command, home, port, stopped_code=JAVA_STOPPED)

    def _start(
        self, name: str, command: list[str], home: Path, port: int, stopped_code: int
    ) -> Process:
        # Java: both programs refuse to start without ROCKETMQ_HOME.
        process = Process(name, command, home, stopped_code, {"ROCKETMQ_HOME": str(home)})
        self._started.append(process)
        process.start(port)
        return process


def _ready(kind: str, settings: Mapping[str, str], processes: list[Process]) -> Cluster:
    """Wait until the broker is in the name server's table."""
    cluster = Cluster(
        kind,
        settings["namesrvAddr"],
        f"127.0.0.1:{settings['listenPort']}",
        settings["brokerName"],
        settings["brokerClusterName"],
        processes,
    )
    wanted = f'"{cluster.broker}"'.encode()
    until(
        lambda: wanted in raw.call(cluster.nameserver, raw.GET_CLUSTER, {}).body,
        f"{cluster.broker} registered with {cluster.nameserver}",
        START_LIMIT_S,
    )
    return cluster
