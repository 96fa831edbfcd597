#!/usr/bin/env python3
"""What a sample of the memory costs, and sampling a run: `hrx-wrap` beside a straightforward Python reader.

    tests/bench/sampler.py [--rounds 5] [--samples 2000] [--seconds 20] [--check]

Two trees of three processes, 100 descriptors and 4 DRM clients between them: a fake one on tmpfs (/dev/shm), read with
`mem --proc`, and one of real processes, in which no descriptor is a client since there need not be a GPU. The Python reader
opens, reads and closes every fdinfo of the tree each time, as most tools do.

Both run in the same rounds, in turn; what is printed is the median over the rounds, and the ratio is the median of the ratios
within one round. The cost of a sample is processor time (`getrusage`) of `mem --watch 1ms`, its start and its printing
included. What the slower beats cost (lists of processes and descriptors, once a second) shows in the second table: how much
more processor time a run takes with the default period than with one that never comes.
"""
import argparse
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FDS, CLIENTS, PROCESSES = 100, 4, 3
# What we set ourselves: µs a sample, and the share of a core at the default period.
MOST_US, MOST_SHARE = 100, 0.005
INTERVAL_MS = 50

READER = """
import os, sys, time
proc, pids, count, pause = sys.argv[1], sys.argv[2].split(","), int(sys.argv[3]), float(sys.argv[4])
page = os.sysconf("SC_PAGE_SIZE")
for n in range(count):
    gtt, clients, rss = 0, set(), 0
    for pid in pids:
        try:
            with open(f"{proc}/{pid}/statm") as file:
                rss += int(file.read().split()[1]) * page
            for fd in os.listdir(f"{proc}/{pid}/fdinfo"):
                with open(f"{proc}/{pid}/fdinfo/{fd}") as file:
                    keys = dict(line.split(":", 1) for line in file.read().splitlines() if ":" in line)
                if keys.get("drm-driver", "").strip() == "amdgpu":
                    key = keys["drm-pdev"], keys["drm-client-id"]
                    if key not in clients:
                        clients.add(key)
                        amount, unit = keys["drm-resident-gtt"].split()
                        gtt += int(amount) << {"KiB": 10, "MiB": 20}[unit]
        except (FileNotFoundError, ProcessLookupError):
            pass
    time.sleep(pause)
"""


# Three processes that hold descriptors and sleep.
RUN = f"""
import os, sys, time
held = [open(os.devnull) for _ in range({FDS // PROCESSES - 3})]
for _ in range({PROCESSES - 1}):
    if os.fork() == 0:
        break
time.sleep(float(sys.argv[1]))
"""


def build():
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/hrx-wrap"


def fake_tree(top):
    """A fake /proc; its pids."""
    body = (ROOT / "tests/data/fdinfo/05-amdgpu-2024-10-doorbell-spaces.txt").read_text()
    plain = "pos:\t0\nflags:\t02\nmnt_id:\t15\nino:\t77\n"
    pids = list(range(100, 100 + PROCESSES))
    for index, pid in enumerate(pids):
        parent = pids[0] if index else 1
        for name in ("fd", "fdinfo"):
            (top / f"{pid}/{name}").mkdir(parents=True)
        (top / f"{pid}/stat").write_text(f"{pid} (x) S {parent} 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 7 0\n")
        (top / f"{pid}/statm").write_text("900 256 10 1 0 1 0\n")
    for n in range(FDS):
        pid, fd = pids[n % PROCESSES], 3 + n // PROCESSES
        client = n < CLIENTS
        text = body.replace("drm-client-id:  30", f"drm-client-id:  {30 + n}") if client else plain
        (top / f"{pid}/fdinfo/{fd}").write_text(text)
        (top / f"{pid}/fd/{fd}").symlink_to("/dev/dri/renderD128" if client else f"socket:[{n}]")
    return pids


class RealTree:
    """Three real processes with the same number of descriptors."""

    def __enter__(self):
        each = FDS // PROCESSES
        hold = f"import os, time; held = [open(os.devnull) for _ in range({each - 3})]; print('up', flush=True); time.sleep(3600)"
        self.all = [subprocess.Popen([sys.executable, "-c", hold], stdout=subprocess.PIPE) for _ in range(PROCESSES)]
        for process in self.all:
            process.stdout.readline()
        return [process.pid for process in self.all]

    def __exit__(self, *_):
        for process in self.all:
            process.kill()
            process.wait()


def cpu_seconds(words, until=None):
    """Processor time of a command, which is ended after `until` seconds when it would go on."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    child = subprocess.Popen([str(w) for w in words], stdout=subprocess.PIPE if until is None else subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    if until is None:
        child.communicate()
    else:
        time.sleep(until)
        child.terminate()
        child.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def samples_of(binary, proc, pids, samples):
    """Processor time of so many looks, one after the other, in µs a look."""
    words = [binary, "mem", "--proc", proc, "--watch", "1ms"] + [w for pid in pids for w in ("--pid", pid)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    child = subprocess.Popen([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    seen = sum(1 for _ in zip(range(samples), child.stdout))
    child.kill()
    child.communicate()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / seen * 1e6


def reader_of(proc, pids, samples):
    words = [sys.executable, "-c", READER, proc, ",".join(map(str, pids))]
    few, many = (cpu_seconds([*words, n, 0.001]) for n in (1, samples + 1))
    return (many - few) / samples * 1e6


def per_sample(name, binary, proc, pids, options):
    ours, theirs = [], []
    for _ in range(options.rounds):
        ours.append(samples_of(binary, proc, pids, options.samples))
        theirs.append(reader_of(proc, pids, options.samples))
    ratio = statistics.median(a / b for a, b in zip(ours, theirs))
    us = statistics.median(ours)
    print(f"| {name} | {us:.0f} | {statistics.median(theirs):.0f} | {ratio:.2f} |")
    return us


def share_of_a_core(name, binary, more, target, options):
    """What sampling adds to a run: the run with the default period against one that hardly samples."""
    shares = []
    for _ in range(options.rounds):
        cost = {}
        for interval in (f"{INTERVAL_MS}ms", "1h"):
            words = [binary, "--interval", interval, *more, "--report", os.devnull, "--", *target]
            cost[interval] = cpu_seconds(words)
        shares.append((cost[f"{INTERVAL_MS}ms"] - cost["1h"]) / options.seconds)
    share = statistics.median(shares)
    print(f"| {name} | {share:.3%} |")
    return share


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--check", action="store_true", help="exit with 1 when an aim is missed")
    options = parser.parse_args()
    binary = build()
    tmpfs = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    top = pathlib.Path(tempfile.mkdtemp(dir=tmpfs))
    try:
        print(f"{PROCESSES} processes, {FDS} descriptors, {CLIENTS} clients; medians of {options.rounds} rounds\n")
        print("| tree | hrx-wrap, µs a sample | Python, µs a sample | ratio |\n|---|---:|---:|---:|")
        worst = per_sample("fake, on tmpfs" if tmpfs else "fake, on disk", binary, top, fake_tree(top), options)
        with RealTree() as pids:
            worst = max(worst, per_sample("real processes", binary, "/proc", pids, options))
        print(f"\n| a run sampled every {INTERVAL_MS} ms | share of a core |\n|---|---:|")
        # With this link the tree below process 1 of the fake is the run's.
        (top / "self").symlink_to("1")
        share = share_of_a_core("fake tree", binary, ["--proc", top], ["sleep", options.seconds], options)
        real = [sys.executable, "-c", RUN, options.seconds]
        share = max(share, share_of_a_core("real processes", binary, [], real, options))
        met = worst <= MOST_US and share <= MOST_SHARE
        print(f"aims: at most {MOST_US} µs a sample, at most {MOST_SHARE:.1%} of a core: {'met' if met else 'MISSED'}")
        return 1 if options.check and not met else 0
    finally:
        shutil.rmtree(top)


if __name__ == "__main__":
    sys.exit(main())
