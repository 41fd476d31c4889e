# SPDX-License-Identifier: Apache-2.0
"""`python -m eruca` is the command `eruca`."""

from eruca.cli.main import main

raise SystemExit(main())
