"""What setup.py and tools.py share: places, one-line errors, a lock, stamps."""

import argparse
import contextlib
import fcntl
import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# As for cargo; a relative one counts from the repository's root.
TARGET = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "llama"


class Failed(Exception):
    """One line for the user: what failed and what to do about it."""


def say(text):
    print(text, flush=True)


def main_of(work, about):
    """Runs `work` and turns Failed into one line on stderr and status 1."""
    argparse.ArgumentParser(description=about).parse_args()
    # TERM as Ctrl-C, so that the command which is running ends too and not only this program.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        work()
    except Failed as error:
        sys.exit(f"{Path(sys.argv[0]).name}: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


def run(command, remedy, **how):
    """Runs a command to its end; its own output is left to be seen."""
    try:
        status = subprocess.run([str(word) for word in command], check=False, **how).returncode
    except OSError as error:
        raise Failed(f"{command[0]}: {error.strerror}: {remedy}") from None
    if status != 0:
        raise Failed(f"{Path(command[0]).name} ended with status {status}: {remedy}")


@contextlib.contextmanager
def locked(name):
    """Holds TARGET/name.lock, so that of two runs at once one works and one waits."""
    TARGET.mkdir(parents=True, exist_ok=True)
    with open(TARGET / f"{name}.lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"{name}: another run is at work, waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def key_of(*parts):
    """One hash over files (Path) and texts (str)."""
    total = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, Path) else part.encode()
        total.update(hashlib.sha256(data).digest())
    return total.hexdigest()


class Stamp:
    """A file that says with which inputs some outputs were finished."""

    def __init__(self, name, key, outputs):
        self.path, self.key, self.outputs = TARGET / f"{name}.stamp", key, outputs

    def fresh(self):
        # exists() follows links: a venv whose python is gone is not fresh.
        with contextlib.suppress(OSError):
            return self.path.read_text() == self.key and all(o.exists() for o in self.outputs)
        return False

    def clear(self):
        self.path.unlink(missing_ok=True)

    def write(self):
        new = self.path.with_suffix(".new")
        new.write_text(self.key)
        new.replace(self.path)
