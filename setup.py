# SPDX-License-Identifier: Apache-2.0
"""Compile what runs per message; everything else stays as it is.

One compilation unit, since calls between units are slow. Without a C compiler, or with
ERUCA_PURE=1, the same files are installed and run interpreted.
"""

import os
import shutil
import sys

from setuptools import setup

COMPILED = [
    "src/eruca/wire/seek.py",  # finds quotes and separators, for scan.py and properties.py
    "src/eruca/wire/frame.py",  # every byte that arrives is cut here
    "src/eruca/wire/header.py",  # shares its readers with scan.py
    "src/eruca/wire/scan.py",  # hot headers, byte by byte
    "src/eruca/wire/hot.py",  # hot requests and answers
    "src/eruca/wire/properties.py",  # scanned once per send; hashes of tags and keys
    "src/eruca/wire/record.py",  # written once per send, checked once per record on recovery
    "src/eruca/net/turn.py",  # the loop over the frames of a chunk
    "src/eruca/store/segment.py",  # called by commitlog.py
    "src/eruca/store/commitlog.py",  # every append
    "src/eruca/store/consumequeue.py",  # every append, every pull
    "src/eruca/store/index.py",  # two or three entries per send
    "src/eruca/store/writer.py",  # ties the three together, per send
    "src/eruca/store/reader.py",  # every pull
    "src/eruca/store/replay.py",  # every record that recovery enters again
    "src/eruca/broker/hot.py",  # the handlers of send and pull
]


def extensions() -> list[object]:
    if os.environ.get("ERUCA_PURE") == "1":
        return []
    if not any(shutil.which(compiler) for compiler in (os.environ.get("CC", "cc"), "gcc", "clang")):
        print("eruca: no C compiler found: installing interpreted, slower", file=sys.stderr)
        return []
    from mypyc.build import mypycify

    made = list(mypycify(["--strict", *COMPILED], opt_level="3", group_name="eruca"))
    for extension in made:  # Hidden names need no detour, and may be inlined.
        extension.extra_compile_args.append("-fvisibility=hidden")
    return made


setup(ext_modules=extensions())
