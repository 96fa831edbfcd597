#!/usr/bin/env python3
"""How fast a kept trace is read: `hrx-wrap parse` beside `grep -c` and a straightforward Python parser.

    tests/bench/parse.py [--rounds 5] [--tokens 1540]

1540 tokens give 2.8 million lines, 475 MB. Every round runs each way once; the numbers are medians, the ratios medians of
the ratios within a round.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def build():
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/hrx-wrap"


def make_trace(binary, folder, tokens):
    trace = folder / "trace.log"
    quick = ["--serial=on", "--device-us", "0", "--launch-us", "0", "--no-load", "--tokens", str(tokens)]
    words = [binary, "--log", trace, "--echo", "none", "--report", "/dev/null", "--", binary, "demo-target", *quick]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return trace


def seconds(words):
    since = time.monotonic()
    # Into a pipe: grep stops at the first match when its output is /dev/null.
    subprocess.run(words, stdout=subprocess.PIPE, check=True)
    return time.monotonic() - since


def peak_kib(words):
    timed = subprocess.run(["/usr/bin/env", "python3", "-c", (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"), *map(str, words)], check=True, capture_output=True)
    return int(timed.stdout)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--tokens", type=int, default=1540)
    options = options.parse_args()
    binary = build()
    with tempfile.TemporaryDirectory() as folder:
        trace = make_trace(binary, Path(folder), options.tokens)
        size = trace.stat().st_size
        lines = int(subprocess.run(["wc", "-l", trace], check=True, capture_output=True).stdout.split()[0])
        ways = {
            "grep -c sync-end": ["grep", "-c", "sync-end", trace],
            "hrx-wrap parse": [binary, "parse", trace],
            "Python parser": [sys.executable, ROOT / "tests/bench/parse_reader.py", trace],
        }
        rounds = [{name: seconds(words) for name, words in ways.items()} for _ in range(options.rounds)]
        print(f"{lines:,} lines, {size / 1e6:.0f} MB, medians of {options.rounds} rounds, one core\n")
        print("| way | s | MB/s | against grep |\n|---|---:|---:|---:|")
        for name in ways:
            median = statistics.median(r[name] for r in rounds)
            ratio = statistics.median(r[name] / r["grep -c sync-end"] for r in rounds)
            print(f"| {name} | {median:.2f} | {size / 1e6 / median:.0f} | {ratio:.2f} |")
        small = make_trace(binary, Path(folder), max(1, options.tokens // 20))
        half = peak_kib([binary, "parse", small])
        whole = peak_kib([binary, "parse", make_trace(binary, Path(folder), options.tokens)])
        print(f"\nmemory of hrx-wrap parse: {half} KiB for a twentieth of the trace, {whole} KiB for all of it")


if __name__ == "__main__":
    main()
