#!/usr/bin/env python3
"""What the page and the timeline of a kept trace cost beside `hrx-wrap parse` alone.

    tests/bench/pictures.py [--rounds 5] [--tokens 1540]

1540 tokens give 2.8 million lines, 475 MB. Every round runs each way once; the numbers are medians, the ratios medians of
the ratios within a round. The aim: parse with page and timeline within twice the time of parse alone, and memory that does
not grow with the trace.
"""
import argparse
import statistics
import tempfile
from pathlib import Path

from parse import build, make_trace, peak_kib, seconds


def ways(binary, trace, folder):
    page, timeline, chrome = folder / "p.html", folder / "t.pftrace", folder / "t.json"
    quiet = ["--report", "/dev/null"]
    return {
        "parse": [binary, "parse", trace, *quiet],
        "and the page": [binary, "parse", trace, *quiet, "--html", page],
        "and the timeline": [binary, "parse", trace, *quiet, "--timeline", timeline],
        "and both": [binary, "parse", trace, *quiet, "--html", page, "--timeline", timeline],
        "and the whole timeline": [binary, "parse", trace, *quiet, "--timeline", timeline, "--timeline-max", "1000000000"],
        "and Chrome's JSON": [binary, "parse", trace, *quiet, "--timeline", chrome],
    }


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--tokens", type=int, default=1540)
    options = options.parse_args()
    binary = build()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trace = make_trace(binary, folder, options.tokens)
        size = trace.stat().st_size
        all_ways = ways(binary, trace, folder)
        rounds = [{way: seconds(words) for way, words in all_ways.items()} for _ in range(options.rounds)]
        print(f"{size / 1e6:.0f} MB, medians of {options.rounds} rounds\n")
        print("| way | s | against parse | peak KiB |\n|---|---:|---:|---:|")
        for way, words in all_ways.items():
            median = statistics.median(r[way] for r in rounds)
            ratio = statistics.median(r[way] / r["parse"] for r in rounds)
            print(f"| {way} | {median:.2f} | {ratio:.2f} | {peak_kib(words)} |")
        sizes = {f.name: f.stat().st_size for f in (folder / "p.html", folder / "t.pftrace")}
        print("\n" + ", ".join(f"{name}: {size / 1e6:.1f} MB" for name, size in sizes.items()))
        small = make_trace(binary, folder, max(1, options.tokens // 20))
        print(f"memory for a twentieth of the trace: {peak_kib(ways(binary, small, folder)['and both'])} KiB")


if __name__ == "__main__":
    main()
