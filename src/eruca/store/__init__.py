# SPDX-License-Identifier: Apache-2.0
"""Files: the commit log, its queues and its index."""
