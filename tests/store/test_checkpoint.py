# SPDX-License-Identifier: Apache-2.0
"""Six numbers, where Java has them."""

import struct
from pathlib import Path

from eruca.store.checkpoint import FILE_SIZE, Checkpoint

from .places import unpacked


def test_each_field_has_its_place() -> None:
    data = Checkpoint(1, 2, 3, 4, 5, 6).encode()
    assert data[:48] == struct.pack(">6q", 1, 2, 3, 4, 5, 6)
    assert data[48:] == bytes(FILE_SIZE - 48)
    assert Checkpoint.decode(data) == Checkpoint(1, 2, 3, 4, 5, 6)


def test_nothing_is_trusted_without_a_whole_file() -> None:
    assert Checkpoint.decode(None) == Checkpoint()
    assert Checkpoint.decode(b"\1" * 47) == Checkpoint()


def test_reads_what_java_wrote(tmp_path: Path) -> None:
    recorded = unpacked("golden-store", tmp_path)
    written = recorded.manifest["checkpoint"]
    found = Checkpoint.decode((recorded.root / "checkpoint").read_bytes())
    assert found.log_ms == written["physicMsgTimestamp"]
    assert found.queue_ms == written["logicsMsgTimestamp"]
    assert found.index_ms == written["indexMsgTimestamp"]
    assert found.record_offset == written["logicsPhysicalOffset"]
