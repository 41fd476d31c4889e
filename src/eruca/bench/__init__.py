# SPDX-License-Identifier: Apache-2.0
"""The canonical workload, and how to run it."""
