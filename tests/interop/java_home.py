# SPDX-License-Identifier: Apache-2.0
"""The Java system on this machine: its jars, and the driver compiled against them.

    $ERUCA_INTEROP_HOME (default ~/.cache/eruca-interop)
        lib/              every jar of java/pom.xml, copied by Maven once
        lib/.pom          the pom they were copied for
        classes-<hash>/   java/*.java compiled, one directory per content

Both steps are done when needed and kept. `prepared` raises Missing when it cannot; the fixtures
turn that into a skip, or into a failure when CI=true.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).parent / "java"
FETCH_LIMIT_S = 600
COMPILE_LIMIT_S = 120

OPENS = [
    f"--add-{kind}=java.base/{package}=ALL-UNNAMED"
    for kind, package in [
        ("exports", "jdk.internal.ref"),
        ("opens", "jdk.internal.ref"),
        ("opens", "java.nio"),
        ("opens", "sun.nio.ch"),
    ]
]
# Short-lived processes on a shared machine: start fast, stay small.
LIGHT = [
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-XX:CICompilerCount=1",
    "-Djava.net.preferIPv4Stack=true",
]


class Missing(Exception):
    """Java, Maven or the jars are not here and could not be had."""


@dataclass(frozen=True, slots=True)
class JavaHome:
    lib: Path
    classes: Path

    def command(
        self, main_class: str, *args: str, home: Path, heap: str, properties: dict[str, str]
    ) -> list[str]:
        """The command line of one JVM. `home` receives its logs: they go to ${user.home}/logs."""
        settings = {"user.home": str(home)} | properties
        return [
            "java",
            f"-Xms{heap}",
            f"-Xmx{heap}",
            *LIGHT,
            *OPENS,
            *(f"-D{key}={value}" for key, value in settings.items()),
            "-cp",
            f"{self.classes}{os.pathsep}{self.lib}/*",
            main_class,
            *args,
        ]


def prepared() -> JavaHome:
    for program in ("java", "javac"):
        if shutil.which(program) is None:
            raise Missing(f"{program} is not on the path")
    home = Path(os.environ.get("ERUCA_INTEROP_HOME", Path.home() / ".cache" / "eruca-interop"))
    lib = home / "lib"
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # Two runs at once are to prepare it once.
        _fetch(lib)
        return JavaHome(lib, _compile(home, lib))


def _fetch(lib: Path) -> None:
    pom = SOURCES / "pom.xml"
    stamp = lib / ".pom"
    if stamp.exists() and stamp.read_bytes() == pom.read_bytes():
        return
    if shutil.which("mvn") is None:
        raise Missing(f"no jars in {lib}, and mvn is not on the path to fetch them")
    shutil.rmtree(lib, ignore_errors=True)
    lib.mkdir(parents=True)
    copy = ["dependency:copy-dependencies", f"-DoutputDirectory={lib}", "-DincludeScope=runtime"]
    _run(["mvn", "-q", "-B", "-f", str(pom), *copy], FETCH_LIMIT_S)
    stamp.write_bytes(pom.read_bytes())


def _compile(home: Path, lib: Path) -> Path:
    sources = sorted(SOURCES.glob("*.java"))
    content = hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()
    classes = home / f"classes-{content[:16]}"
    if classes.exists():
        return classes
    unfinished = home / "compiling"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    names = [str(path) for path in sources]
    _run(["javac", "-nowarn", "-d", str(unfinished), "-cp", f"{lib}/*", *names], COMPILE_LIMIT_S)
    unfinished.rename(classes)
    return classes


def _run(command: list[str], limit_s: int) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False)
    except subprocess.TimeoutExpired as error:
        raise Missing(f"{command[0]} took more than {limit_s} s") from error
    if done.returncode != 0:
        raise Missing(f"{command[0]} failed: {(done.stdout + done.stderr)[-2000:]}")
