# SPDX-License-Identifier: Apache-2.0
"""Print the packages that pyproject.toml asks for: those of every user, and of the extras named.

python tools/requirements.py dev
"""

import sys
import tomllib
from pathlib import Path


def main(extras: list[str]) -> None:
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    wanted = list(project["dependencies"])
    for extra in extras:
        wanted += project["optional-dependencies"][extra]
    print("\n".join(wanted))


if __name__ == "__main__":
    main(sys.argv[1:])
