# SPDX-License-Identifier: Apache-2.0
"""The broker: one module per capability; requests.py says what it can do."""
