# SPDX-License-Identifier: Apache-2.0
"""asyncio meets wire: connections, servers, dialing."""
