#!/usr/bin/env python3
"""How true a profile is: device times as hrx-wrap reports them beside the times that the emitter really waits.

    tests/bench/kernels.py                       build, run, print the table (about a minute)
    tests/bench/kernels.py --option=--stamp=read give hrx-wrap an option; once more for another
    tests/bench/kernels.py --busy                with a busy loop for each core beside it
    tests/bench/kernels.py --json FILE           keep every single value in this file
    tests/bench/kernels.py --check PERCENT       exit with 1 when a kernel of 60 µs or more is off by more than this

The emitter is our own `hrx-wrap demo-target`; its times are read from its source. It spins, so they are exact. Mean and
median are those of report.json; what is printed is their median over the runs.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SOURCE = ROOT / "src" / "cmd" / "demo_target" / "device.rs"
# Below this the floor of the instrument is most of what is measured.
JUDGED_US = 60


def known_times():
    """Kernel name: device time in µs, from the emitter's source."""
    text = SOURCE.read_text(encoding="utf-8")
    times = {name: int(us) for name, us in re.findall(r'loom\("(\w+)", \d+, (\d+)\)', text)}
    if not times:
        sys.exit(f"no kernel found in {SOURCE}: has its form changed?")
    return times


def measure(binary, options, tokens):
    """One run: name → (dispatches, mean ns, median ns), and the floor in ns."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        command = [binary, "-p", *options, "--report", "/dev/null", "--json", report, "--"]
        command += [binary, "demo-target", "--spin", "--tokens", str(tokens)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        made = json.loads(report.read_text(encoding="utf-8"))
    found = {}
    for program in made["programs"]:
        for kernel in program["kernels"]:
            # The two programs share a few short kernels: the one with more dispatches tells more.
            if kernel["count"] > found.get(kernel["name"], (0,))[0]:
                found[kernel["name"]] = (kernel["count"], kernel["device_mean_ns"], kernel["device_median_ns"])
    return found, made["floor_ns"]


@contextlib.contextmanager
def busy_loops(count):
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def table(times, runs):
    """Rows: name, known µs, dispatches, mean µs, its error in percent, median µs, its error."""
    rows = []
    for name, known in sorted(times.items(), key=lambda item: item[1]):
        values = [run[name] for run, _ in runs if name in run]
        if values:
            mean, median = (statistics.median(v[n] for v in values) / 1000 for n in (1, 2))
            off = [(value / known - 1) * 100 for value in (mean, median)]
            rows.append((name, known, values[0][0], mean, off[0], median, off[1]))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", help="measure this hrx-wrap instead of building one")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--option", action="append", default=[], help="an option for hrx-wrap")
    parser.add_argument("--busy", action="store_true", help="with a busy loop for each core beside it")
    parser.add_argument("--json")
    parser.add_argument("--check", type=float, metavar="PERCENT")
    args = parser.parse_args()
    binary = args.binary
    if not binary:
        subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
        binary = str(ROOT / "target" / "release" / "hrx-wrap")
    with busy_loops(os.cpu_count() if args.busy else 0):
        runs = [measure(binary, args.option, args.tokens) for _ in range(args.runs)]
    rows = table(known_times(), runs)
    floors = [floor for _, floor in runs if floor is not None]
    floor = f"{statistics.median(floors) / 1000:.1f} µs" if floors else "unknown"
    machine = ", busy loops on every core" if args.busy else ""
    print(f"Options: {' '.join(args.option) or 'none'}{machine}; {args.runs} runs of {args.tokens} tokens; floor {floor}\n")
    print("| kernel | known µs | dispatches a run | mean µs | off | median µs | off |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, known, count, mean, off, median, median_off in rows:
        print(f"| {name} | {known} | {count} | {mean:.1f} | {off:+.1f} % | {median:.1f} | {median_off:+.1f} % |")
    judged = [row for row in rows if row[1] >= JUDGED_US]
    worst_mean, worst_median = (max(abs(row[n]) for row in judged) for n in (4, 6))
    print(f"\nFrom {JUDGED_US} µs on: means within {worst_mean:.1f} %, medians within {worst_median:.1f} %.")
    if args.json:
        everything = {"options": args.option, "rows": rows, "runs": [run for run, _ in runs]}
        pathlib.Path(args.json).write_text(json.dumps(everything, indent=1), encoding="utf-8")
    if args.check is not None and worst_mean > args.check:
        sys.exit(1)


if __name__ == "__main__":
    main()
