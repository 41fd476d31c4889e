# SPDX-License-Identifier: Apache-2.0
"""Apache RocketMQ in Python: name server, broker, clients, pipeline."""
