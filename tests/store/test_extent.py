# SPDX-License-Identifier: Apache-2.0
"""Where a queue begins and ends, read off files in every state."""

import struct

import pytest

from eruca.store.extent import Extent, extent_of
from eruca.store.files import GAP

from .forgetful import ForgetfulDisk

FILE_SIZE = 6000  # 300 entries
STEP = 100


def entry(number: int, size: int = STEP) -> bytes:
    return struct.pack(">qiq", number * STEP, size, 7)


def disk_with(files: dict[int, bytes]) -> ForgetfulDisk:
    disk = ForgetfulDisk()
    disk.make_directory("/q/0")
    for base, data in files.items():
        assert len(data) <= FILE_SIZE
        disk.write_at(disk.open(f"/q/0/{base:020d}", FILE_SIZE), 0, data)
    return disk


def extent(files: dict[int, bytes], begin: int = 0, cut_at: int = 2**63 - 1) -> Extent | None:
    return extent_of(disk_with(files), "/q/0", FILE_SIZE, begin, cut_at)  # type: ignore[arg-type]


def entries(first: int, end: int) -> bytes:
    return b"".join(entry(number) for number in range(first, end))


def test_a_queue_without_files_is_none() -> None:
    assert extent({}) is None


def test_an_empty_file_keeps_the_number_of_its_first_entry() -> None:
    assert extent({12000: b""}) == Extent(600, 600, -1)


@pytest.mark.parametrize("count", [1, 2, 127, 128, 129, 255, 256, 257, 299, 300])
def test_every_length_of_one_file(count: int) -> None:
    assert extent({0: entries(0, count)}) == Extent(0, count, (count - 1) * STEP)


@pytest.mark.parametrize("count", [301, 428, 599, 600, 601])
def test_every_length_of_several_files(count: int) -> None:
    files = {
        base: entries(base // 20, min(count, base // 20 + 300))
        for base in range(0, count * 20, FILE_SIZE)
    }
    assert extent(files) == Extent(0, count, (count - 1) * STEP)
    files[FILE_SIZE * 3] = b""  # Made ahead.
    assert extent(files) == Extent(0, count, (count - 1) * STEP)


@pytest.mark.parametrize("gap", [1, 5, 128, 299])
def test_a_gap_is_not_part_of_the_queue(gap: int) -> None:
    files = {6000: GAP * gap + entries(gap, 300)}
    assert extent(files) == Extent(300 + gap, 600, 299 * STEP)
    assert extent({6000: GAP * gap}) == Extent(300 + gap, 300 + gap, 0)


@pytest.mark.parametrize("first_kept", [0, 1, 127, 128, 200, 299, 300, 301, 449])
def test_what_the_log_has_no_more_is_not_part_of_the_queue(first_kept: int) -> None:
    files = {0: entries(0, 300), 6000: entries(300, 450)}
    assert extent(files, begin=first_kept * STEP) == Extent(first_kept, 450, 449 * STEP)


def test_when_all_is_gone_the_numbers_stay() -> None:
    assert extent({6000: entries(300, 450)}, begin=10**6) == Extent(450, 450, 449 * STEP)


@pytest.mark.parametrize("cut", [0, 1, 100, 127, 128, 129, 256, 300, 301, 449])
def test_a_crash_cuts_the_queue_back(cut: int) -> None:
    files = {0: entries(0, 300), 6000: entries(300, 450)}
    found = extent(files, cut_at=cut * STEP)
    assert found == (Extent(0, cut, (cut - 1) * STEP) if cut else Extent(0, 0, -1))


def test_sectors_of_unsynced_entries_do_not_deceive() -> None:
    """Entries from 100 on were never synced: any of their sectors may be there or not."""
    whole = entries(0, 300)
    synced_size = 100 * 20
    for pattern in range(16):
        data = bytearray(whole[:synced_size].ljust(FILE_SIZE, b"\0"))
        for number, at in enumerate(range(synced_size // 512 * 512, FILE_SIZE, 512)):
            if pattern >> (number % 4) & 1:
                data[at : at + 512] = whole[at : at + 512]
        data[:synced_size] = whole[:synced_size]
        assert extent({0: bytes(data)}, cut_at=100 * STEP) == Extent(0, 100, 99 * STEP)


def test_a_damaged_entry_ends_the_queue() -> None:
    broken = entries(0, 50) + entry(50, size=-1) + entries(51, 60)
    assert extent({0: broken}) == Extent(0, 50, 49 * STEP, is_damaged=True)
    assert extent({0: broken}, cut_at=60 * STEP) == Extent(0, 50, 49 * STEP, is_damaged=True)
    assert extent({0: broken}, cut_at=50 * STEP) == Extent(0, 50, 49 * STEP)
