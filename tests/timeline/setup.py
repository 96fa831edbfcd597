#!/usr/bin/env python3
"""Makes target/llama/perfetto: a venv with Perfetto's protobuf classes in it (700 KB, from PyPI, once)."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "llama"))

from common import TARGET, Stamp, key_of, locked, main_of, run, say  # noqa: E402
from setup import PIP, check_machine  # noqa: E402

VENV = TARGET / "perfetto"
PYTHON = VENV / "bin" / "python"


def stamp():
    key = key_of(HERE / "requirements.txt", str(sys.version_info[:2]), str(VENV))
    return Stamp("perfetto", key, [PYTHON])


def make():
    if stamp().fresh():
        return
    check_machine()
    with locked("perfetto"):
        if stamp().fresh():
            return
        stamp().clear()
        say(f"timeline: making {VENV}")
        run([sys.executable, "-m", "venv", "--clear", VENV], f"remove {VENV} and run again")
        run([PYTHON, *PIP, "--no-deps", "-r", HERE / "requirements.txt"],
            "see pip's lines above; the network is needed once")
        stamp().write()


if __name__ == "__main__":
    main_of(make, __doc__)
