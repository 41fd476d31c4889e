# SPDX-License-Identifier: Apache-2.0
"""Bytes and meaning: frames, headers, records, bodies. No I/O; imports nothing above it."""
