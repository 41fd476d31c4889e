# SPDX-License-Identifier: Apache-2.0
"""What talks to a broker."""
