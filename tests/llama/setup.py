#!/usr/bin/env python3
"""Makes target/llama: a venv with llama.cpp in it, two small models, and a tiny one of each kind.

Run it as often as you like: what is there already is not made again.
"""

import importlib.util
import os
import platform
import shutil
import sys

from common import HERE, TARGET, Failed, Stamp, key_of, locked, main_of, run, say

OLDEST, NEWEST = (3, 10), (3, 14)
VENV = TARGET / "venv"
PYTHON = VENV / "bin" / "python"
MODELS = [TARGET / "models" / name for name in ("tiny.gguf", "big.gguf")]
KINDS = [TARGET / "models" / f"tiny-{name}.gguf" for name in ("gemma3", "jamba", "draft", "lora")]
PIP = ["-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--require-hashes", "--only-binary", ":all:"]


def check_machine():
    """The wheels exist for some Pythons and one kind of machine only; say so before pip does."""
    here = (platform.system(), platform.machine())
    if here != ("Linux", "x86_64"):
        raise Failed(f"no llama.cpp wheels for {' '.join(here)}: run this on x86-64 Linux")
    if platform.libc_ver()[0] != "glibc":
        raise Failed("the llama.cpp wheels need glibc: run this on a distribution that has it")
    if not OLDEST <= sys.version_info[:2] <= NEWEST or sys.implementation.name != "cpython":
        raise Failed(f"needs CPython 3.10 to 3.14, this is {platform.python_version()}: {other_python()}")
    if importlib.util.find_spec("ensurepip") is None:
        raise Failed("this Python cannot make a venv: apt-get install python3-venv")


def other_python():
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        if shutil.which(f"python3.{minor}"):
            return f"run it as python3.{minor} {sys.argv[0]}"
    return "install python3.11, then run it with that"


def venv_stamp():
    key = key_of(HERE / "requirements.txt", str(sys.version_info[:2]), str(VENV))
    return Stamp("venv", key, [PYTHON])


def models_stamp():
    return Stamp("models", key_of(HERE / "requirements.txt", HERE / "make_gguf.py"), MODELS)


def kinds_stamp():
    return Stamp("kinds", key_of(HERE / "requirements.txt", HERE / "make_gguf.py", HERE / "make_kinds.py"), KINDS)


def make_venv():
    stamp = venv_stamp()
    if stamp.fresh():
        return
    stamp.clear()
    say(f"setup: making {VENV}")
    run([sys.executable, "-m", "venv", "--clear", VENV], f"remove {VENV} and run again")
    say("setup: installing the pinned packages (90 MB)")
    run([PYTHON, *PIP, "-r", HERE / "requirements.txt"], "see pip's lines above; the network is needed once")
    # xllamacpp takes OpenMP from the system, which a machine without a compiler may lack.
    run([PYTHON, "-c", "import cyllama, xllamacpp"], "see the lines above; for libgomp.so.1: apt-get install libgomp1")
    stamp.write()


def make_models():
    stamp = models_stamp()
    if stamp.fresh():
        return
    stamp.clear()
    say(f"setup: writing {', '.join(m.name for m in MODELS)} to {MODELS[0].parent}")
    run([PYTHON, HERE / "make_gguf.py", MODELS[0].parent], "see the lines above")
    stamp.write()


def make_kinds():
    stamp = kinds_stamp()
    if stamp.fresh():
        return
    stamp.clear()
    say(f"setup: writing {', '.join(m.name for m in KINDS)} to {KINDS[0].parent}")
    run([PYTHON, HERE / "make_kinds.py", KINDS[0].parent], "see the lines above")
    stamp.write()


def setup():
    if not (venv_stamp().fresh() and models_stamp().fresh() and kinds_stamp().fresh()):
        check_machine()
        # Stamps are looked at again under the lock: the run before us may have made it all.
        with locked("setup"):
            make_venv()
            make_models()
            make_kinds()
    say(f"setup: ready in {os.path.relpath(TARGET)}")


if __name__ == "__main__":
    main_of(setup, __doc__)
