# SPDX-License-Identifier: Apache-2.0
"""The name server: who has which topic."""
