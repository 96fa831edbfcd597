#!/usr/bin/env python3
"""The benches: what a supervised run costs, beside the same run with the usual tools.

    tests/bench/run.py                       build, measure everything, print the table (about 15 minutes)
    tests/bench/run.py --only startup,memory just these parts
    tests/bench/run.py --doc docs/performance.md
                                             also put the table between the document's two bench marks
    tests/bench/run.py --check               also exit with 1 when an aim is missed

Everything that is compared runs interleaved, in an order that turns by one place each round; what is printed is the
median over the rounds, and a ratio is the median of the ratios within one round. The emitter is our own
`hrx-wrap demo-target`, which writes the serial trace with the backend's words, order and number of writes.
`timeout` is coreutils'; `tini` and `ts` are installed with apt-get when they are missing and we are root.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PYTHON_READER = [sys.executable, str(HERE / "stamp_reader.py")]
PARTS = ["startup", "dispatch", "lines", "threads", "latency", "memory"]
MARKS = ("<!-- bench: begin -->", "<!-- bench: end -->")
BUSY_LOOPS = 2

# ---------------------------------------------------------------------------------------------------------------------
# The machine


def machine():
    """What was measured on, in one line."""
    model = "unknown processor"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    hypervisor = "hypervisor" in pathlib.Path("/proc/cpuinfo").read_text()
    memory = int(re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())[1]) / (1 << 20)
    cores = len(os.sched_getaffinity(0))
    kind = "virtual machine, " if hypervisor else ""
    return f"{kind}{cores} cores of {model}, {memory:.0f} GiB, Linux {os.uname().release}"


class Others:
    """What other processes than ours use of the processors."""

    def __init__(self):
        self.start, self.idle, self.ours = time.monotonic(), self._idle(), self._ours()

    @staticmethod
    def _idle():
        numbers = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()
        return (int(numbers[4]) + int(numbers[5])) / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def _ours():
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(u.ru_utime + u.ru_stime for u in used)

    def share(self):
        """Their share of all processors since this was made."""
        there = (time.monotonic() - self.start) * os.cpu_count()
        return (there - (self._idle() - self.idle) - (self._ours() - self.ours)) / there


class Quiet:
    """Measures in moments in which nobody else works on the machine, and remembers when there was none."""

    LIMIT = 0.05

    def __init__(self, patience):
        self.patience = patience
        self.measured, self.repeated, self.disturbed = 0, 0, 0

    def measure(self, function, thing):
        self.measured += 1
        until = time.monotonic() + self.patience
        while True:
            self._wait(until)
            others = Others()
            value = function(thing)
            if others.share() <= self.LIMIT:
                return value
            if time.monotonic() > until:
                self.disturbed += 1
                return value
            self.repeated += 1

    def _wait(self, until):
        # A look is long enough for the ticks of the kernel's clock, and as short as they let it be.
        while time.monotonic() < until:
            others = Others()
            time.sleep(0.1)
            if others.share() <= 2 * self.LIMIT:
                return
            time.sleep(0.5)


class BusyLoops:
    """So many processes that use a core each."""

    def __init__(self, number):
        self.number = number
        self.loops = []

    def __enter__(self):
        for _ in range(self.number):
            self.loops.append(subprocess.Popen(["/bin/sh", "-c", "while :; do :; done"]))
        if self.number:
            time.sleep(0.5)

    def __exit__(self, *_):
        for loop in self.loops:
            loop.kill()
            loop.wait()


def install(missing):
    if not missing:
        return
    packages = {"ts": "moreutils", "tini": "tini"}
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        sys.exit(f"missing: {' '.join(missing)}; install {' '.join(packages[m] for m in missing)}")
    quiet = {"stdout": subprocess.DEVNULL, "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}}
    subprocess.run(["apt-get", "update"], check=True, **quiet)
    subprocess.run(["apt-get", "install", "-y", *(packages[m] for m in missing)], check=True, **quiet)


def build():
    subprocess.run(["cargo", "build", "--release"], cwd=ROOT, check=True)
    target = os.environ.get("CARGO_TARGET_DIR", ROOT / "target")
    return str(pathlib.Path(target).resolve() / "release" / "hrx-wrap")


# ---------------------------------------------------------------------------------------------------------------------
# Rounds and the table


def rounds(number, things, measure, quiet):
    """Measures each of `things` once a round. Returns for each thing its values in the order of the rounds."""
    values = {thing: [] for thing in things}
    for turn in range(number):
        start = turn % len(things)
        for thing in things[start:] + things[:start]:
            values[thing].append(quiet.measure(measure, thing) if quiet else measure(thing))
    return values


def ratio(values, thing, base):
    return statistics.median(a / b for a, b in zip(values[thing], values[base]))


def spread(values):
    return f"{min(values):.4g}–{max(values):.4g}"


class Table:
    """The rows of one part."""

    def __init__(self, title, head, note=""):
        self.title, self.head, self.note, self.rows = title, head, note, []

    def row(self, *cells):
        self.rows.append([str(c) for c in cells])

    def markdown(self):
        def cells(row):
            return "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"

        lines = [f"### {self.title}", ""]
        lines.append(cells(self.head))
        lines.append("|" + "|".join(["---"] + ["---:"] * (len(self.head) - 1)) + "|")
        lines += [cells(row) for row in self.rows]
        return "\n".join(lines + (["", self.note] if self.note else []))

    def text(self):
        plain = [[c.replace("`", "").replace("**", "") for c in row] for row in [self.head, *self.rows]]
        widths = [max(len(row[i]) for row in plain) for i in range(len(self.head))]
        lines = [self.title]
        for row in plain:
            first, *rest = (c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths)))
            lines.append(("  " + "  ".join([first, *rest])).rstrip())
        return "\n".join(lines + (["  " + self.note.replace("`", "")] if self.note else []))


class Aims:
    """What we set ourselves, and whether it was met."""

    def __init__(self):
        self.all = []

    def say(self, what, value, limit, met):
        self.all.append((what, value, limit, met))

    def table(self):
        table = Table("Aims", ["aim", "measured", "limit", "met"])
        for what, value, limit, met in self.all:
            table.row(what, value, limit, "yes" if met else "**no**")
        return table


# ---------------------------------------------------------------------------------------------------------------------
# Running things

NULL = os.open(os.devnull, os.O_RDWR)


def spawn(command, env=None, stdout=NULL, stderr=NULL, stdin=NULL):
    """A process with these descriptors and nothing else of ours: cheaper than `subprocess`, so that it adds little."""
    actions = [(os.POSIX_SPAWN_DUP2, fd, n) for n, fd in enumerate([stdin, stdout, stderr])]
    return os.posix_spawnp(command[0], command, env or os.environ, file_actions=actions)


def ended(pid, command):
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status != 0:
        sys.exit(f"status {status}: {' '.join(command)}")


def run_to(command, reader, env=None, stdout=NULL):
    """Runs `command` with its stderr in a pipe to `reader` (or nowhere when there is none). Returns its wall time, and
    the time until the reader had everything as well, both in ns."""
    start = time.monotonic_ns()
    if reader is None:
        ended(spawn(command, env, stdout), command)
        took = time.monotonic_ns() - start
        return took, took
    read, write = os.pipe()
    words, out = reader
    sink = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    reader_pid = spawn(words, stdin=read, stdout=sink)
    os.close(read)
    os.close(sink)
    pid = spawn(command, env, stdout, stderr=write)
    os.close(write)
    ended(pid, command)
    own = time.monotonic_ns() - start
    ended(reader_pid, words)
    return own, time.monotonic_ns() - start


class Bench:
    def __init__(self, options, binary, folder):
        self.options, self.binary, self.folder = options, binary, pathlib.Path(folder)
        self.aims = Aims()
        self.quiet = Quiet(options.patience)
        self.raw = {}

    def file(self, name):
        return str(self.folder / name)

    def machine_states(self):
        return [("quiet", 0)] + ([("two busy loops", BUSY_LOOPS)] if self.options.busy else [])

    def per_state(self, number, things, measure):
        """The rounds on the quiet machine, then beside busy loops."""
        for state, loops in self.machine_states():
            with BusyLoops(loops):
                yield state, rounds(number, things, measure, None if loops else self.quiet)

    # (a)
    def startup(self):
        commands = {
            "`true` alone": ["true"],
            "`timeout 9 true`": ["timeout", "9", "true"],
            "`tini -s -- true`": ["tini", "-s", "--", "true"],
            "`hrx-wrap -- true`": [self.binary, "--", "true"],
        }

        def call(name):
            start = time.monotonic_ns()
            ended(spawn(commands[name]), commands[name])
            return (time.monotonic_ns() - start) / 1e6

        def block(calls):
            return rounds(calls, list(commands), call, None)

        table = Table("Start and end: one call", ["command", "machine", "median ms", "90 % below", "over `timeout`"])
        # Single calls are too short to be judged by the kernel's clock ticks, so that happens by blocks.
        calls = max(1, self.options.calls // self.options.runs)
        for state, blocks in self.per_state(self.options.runs, [calls], block):
            values = {name: [ms for b in blocks[calls] for ms in b[name]] for name in commands}
            self.raw[f"startup/{state}"] = values
            base = values["`timeout 9 true`"]
            for name, times in values.items():
                over = statistics.median(a - b for a, b in zip(times, base))
                p90 = sorted(times)[len(times) * 9 // 10]
                table.row(name, state, f"{statistics.median(times):.2f}", f"{p90:.2f}", f"{over:+.2f}")
                if name.startswith("`hrx") and state == "quiet":
                    self.aims.say("start-up over `timeout`", f"{over:.2f} ms", "≤ 3 ms", over <= 3)
        return table

    # (b)
    def dispatch(self):
        tokens, commands = 40, max(10, self.options.dispatches // 40)
        count = tokens * commands
        log = self.file("dispatch.log")
        sinks = {
            "`2>/dev/null`": None,
            "`2>&1 | cat >/dev/null`": (["cat"], os.devnull),
            "Python reader to a file": ([*PYTHON_READER, log], os.devnull),
            "`ts -m` to a file": (["ts", "-m", "%.s"], log),
            "`hrx-wrap -p --stamp read --log FILE --echo rest`": "read",
            "`hrx-wrap -p --stamp source --log FILE --echo rest`": "source",
        }

        def emitter(device):
            return [
                self.binary, "demo-target", "--serial", "on", "--no-load", "--prefill-commands", "0",
                "--tokens", str(tokens), "--commands", str(commands),
                "--device-us", str(device), "--spin", "--launch-us", "0",
            ]  # fmt: skip

        def measure(thing):
            device, sink = thing
            command, reader = emitter(device), sinks[sink]
            if isinstance(reader, str):
                command = [self.binary, "-p", "--stamp", reader, "--log", log, "--echo", "rest", "--", *command]
                reader = None
            pathlib.Path(log).unlink(missing_ok=True)
            with open(self.file("table"), "w+b") as table:
                _, wall = run_to(command, reader, stdout=table.fileno())
                table.seek(0)
                rate = float(re.search(rb"tg\d+ \|\s*([\d.]+)", table.read())[1])
            if sink != "`2>/dev/null`" and "cat" not in sink:
                with open(log, "rb") as file:
                    lines = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
                if lines < 6 * count:
                    sys.exit(f"{sink}: only {lines} lines arrived")
            # The emitter's own clock around its decode, not the wall: start and end are measured elsewhere.
            decode = tokens / rate * 1e6
            return max(decode / count - device, 0.01), max(wall / 1e3 / count - device, 0.01)

        table = Table(
            f"Cost of the trace: µs for each dispatch (six lines) that the target takes longer, {count} dispatches",
            ["where stderr goes", "machine", *(f"{d} µs on device" for d in self.options.devices),
             *(f"{d}: beside `cat`" for d in self.options.devices), *(f"{d}: beside Python" for d in self.options.devices)],
        )  # fmt: skip
        things = [(d, s) for d in self.options.devices for s in sinks]
        for state, values in self.per_state(self.options.runs, things, measure):
            own = {thing: [v[0] for v in pairs] for thing, pairs in values.items()}
            self.raw[f"dispatch/{state}"] = {f"{d}/{s}": pairs for (d, s), pairs in values.items()}
            for sink in sinks:
                medians = [f"{statistics.median(own[d, sink]):.1f}" for d in self.options.devices]
                cat, python = (
                    [ratio(own, (d, sink), (d, base)) for d in self.options.devices]
                    for base in ["`2>&1 | cat >/dev/null`", "Python reader to a file"]
                )
                table.row(sink, state, *medians, *(f"{r:.2f}" for r in cat), *(f"{r:.2f}" for r in python))
                if sinks[sink] == "source" and state == "quiet" and 30 in self.options.devices:
                    cost = statistics.median(own[30, sink])
                    self.aims.say("a dispatch of 30 µs, at the source", f"{cost:.1f} µs", "≤ 6 µs", cost <= 6)
                    null = ratio(own, (30, sink), (30, "`2>/dev/null`"))
                    self.aims.say("the same, beside `2>/dev/null`", f"{null:.2f}", "≤ 0.50", null <= 0.5)
                    reader = ratio(own, (30, sink), (30, "Python reader to a file"))
                    self.aims.say("the same, beside Python", f"{reader:.3f}", "≤ 0.10", reader <= 0.1)
                if sinks[sink] == "read" and state == "quiet":
                    worst, where = max(zip(cat, self.options.devices))
                    self.aims.say("a dispatch, beside `| cat`", f"{worst:.2f} (at {where} µs)", "≤ 1.00", worst <= 1)
                    worst, where = max(zip(python, self.options.devices))
                    self.aims.say("a dispatch, beside Python", f"{worst:.2f} (at {where} µs)", "< 0.50", worst < 0.5)
        return table

    # (c)
    def lines(self):
        count = self.options.lines
        flood = [self.binary, "demo-target", "--lines", str(count)]
        text, log = self.file("flood.txt"), self.file("flood.log")
        with open(text, "wb") as file:
            run_to_file = spawn(flood, stderr=file.fileno())
            ended(run_to_file, flood)
        wrapped = [self.binary, "--stamp", "read", "--log", log, "--echo", "none", "--"]
        source = [self.binary, "--stamp", "source", "--log", log, "--echo", "none", "--"]
        from_file = ["sh", "-c", f"exec cat '{text}' >&2"]
        ways = {
            "emitter, `2>/dev/null`": (flood, None),
            "emitter, `2>&1 | cat > FILE`": (flood, (["cat"], log)),
            "emitter, Python reader to a file": (flood, ([*PYTHON_READER, log], os.devnull)),
            "emitter, `hrx-wrap --log FILE --echo none`": ([*wrapped, *flood], None),
            "emitter, `hrx-wrap --stamp source --log FILE --echo none`": ([*source, *flood], None),
            "text in large writes, `cat > FILE`": (from_file, (["cat"], log)),
            "text in large writes, `hrx-wrap --log FILE --echo none`": ([*wrapped, *from_file], None),
        }

        def measure(name):
            pathlib.Path(log).unlink(missing_ok=True)
            command, reader = ways[name]
            _, wall = run_to(command, reader)
            if "null" not in name and pathlib.Path(log).stat().st_size < 100 * count:
                sys.exit(f"{name}: lines are missing")
            return count / (wall / 1e9) / 1e6

        table = Table(
            f"Throughput: {count} lines of 100 bytes, start and end included",
            ["way", "machine", "million lines/s", "range", "beside `cat`"],
        )
        for state, values in self.per_state(self.options.runs, list(ways), measure):
            self.raw[f"lines/{state}"] = values
            for name, rates in values.items():
                base = "text in large writes, `cat > FILE`" if "text" in name else "emitter, `2>&1 | cat > FILE`"
                table.row(name, state, f"{statistics.median(rates):.2f}", spread(rates), f"{ratio(values, name, base):.2f}")
                if name.startswith("emitter, `hrx-wrap --log") and state == "quiet":
                    rate = statistics.median(rates)
                    self.aims.say("lines into the log", f"{rate:.2f} M/s", "≥ 1 M/s", rate >= 1)
        for name in [text, log]:
            pathlib.Path(name).unlink(missing_ok=True)
        return table

    # (d)
    def threads(self):
        """Several threads at once, each line in three prints, as llama.cpp's logger makes them."""
        count = self.options.lines // 5
        log, target = self.file("threads.log"), self.file("threads")
        subprocess.run(["cc", "-O2", "-pthread", "-w", "-o", target, str(ROOT / "tests/targets/stderr.c")], check=True)
        wrapped = [self.binary, "--log", log, "--echo", "none", "--stamp"]
        ways = {
            "`2>/dev/null`": ([], None),
            "`2>&1 | cat > FILE`": ([], (["cat"], log)),
            "`hrx-wrap --log FILE --echo none`": ([*wrapped, "read", "--"], None),
            "`hrx-wrap --stamp source --log FILE --echo none`": ([*wrapped, "source", "--"], None),
        }

        def measure(thing):
            way, threads = thing
            pathlib.Path(log).unlink(missing_ok=True)
            prefix, reader = ways[way]
            _, wall = run_to([*prefix, target, "threads", str(threads), str(count // threads)], reader)
            return count / (wall / 1e9) / 1e6

        table = Table(
            f"Throughput of threads: {count} lines of three prints each, start and end included",
            ["where stderr goes", "threads", "machine", "million lines/s", "range", "beside `cat`"],
        )
        things = [(way, threads) for threads in [1, 4] for way in ways]
        for state, values in self.per_state(self.options.runs, things, measure):
            self.raw[f"threads/{state}"] = {f"{way}/{threads}": v for (way, threads), v in values.items()}
            for (way, threads), rates in values.items():
                beside = ratio(values, (way, threads), ("`2>&1 | cat > FILE`", threads))
                table.row(way, threads, state, f"{statistics.median(rates):.2f}", spread(rates), f"{beside:.2f}")
        pathlib.Path(log).unlink(missing_ok=True)
        return table

    # (e)
    def latency(self):
        log = self.file("latency.log")
        emitter = [
            self.binary, "demo-target", "--serial", "on", "--own-clock", "--no-load", "--prefill-commands", "0",
            "--tokens", "20", "--commands", "300", "--launch-us", "0",
        ]  # fmt: skip
        waits = {"busy wait of 30 µs": ["--device-us", "30", "--spin"], "sleep of 300 µs": ["--device-us", "300"]}
        readers = {
            "`hrx-wrap --log FILE`": "read",
            "`hrx-wrap --stamp source --log FILE`": "source",
            "Python reader to a file": ([*PYTHON_READER, log], os.devnull),
        }

        def measure(thing):
            reader, wait = thing
            pathlib.Path(log).unlink(missing_ok=True)
            command, to = [*emitter, *waits[wait]], readers[reader]
            if isinstance(to, str):
                command, to = [self.binary, "--stamp", to, "--log", log, "--echo", "none", "--", *command], None
            run_to(command, to)
            late = []
            with open(log, "rb") as file:
                for line in file:
                    stamp, _, rest = line.partition(b" ")
                    at = rest.rfind(b" clock=")
                    if at >= 0:
                        late.append((int(stamp) - int(rest[at + 7 :])) / 1e3)
            late.sort()
            return late[len(late) // 2], late[len(late) * 99 // 100], late[-1], late[0]

        table = Table(
            "Lateness of a stamp: µs from just before the line's first write to its stamp",
            ["reader", "target waits by", "machine", "median", "99 % below", "max"],
            "Each cell is the median over the runs; a run has 36 000 lines.",
        )
        things = [(r, w) for w in waits for r in readers]
        for state, values in self.per_state(self.options.runs, things, measure):
            self.raw[f"latency/{state}"] = {" / ".join(t): v for t, v in values.items()}
            for (reader, wait), runs in values.items():
                p50, p99, most, least = (statistics.median(column) for column in zip(*runs))
                if least < 0:
                    sys.exit(f"{reader}: a stamp before its line was written")
                table.row(reader, wait, state, f"{p50:.1f}", f"{p99:.1f}", f"{most:.0f}")
                if readers[reader] == "source":
                    limit = 5 if state == "quiet" else 50
                    what = f"lateness at the source, {wait}, {state}, 99 %"
                    self.aims.say(what, f"{p99:.1f} µs", f"< {limit} µs", p99 < limit)
        return table

    # (f)
    def memory(self):
        counts = [1_000_000, 10_000_000]
        log = self.file("memory.log")

        def peak(pid):
            try:
                text = pathlib.Path(f"/proc/{pid}/status").read_text()
            except OSError:
                return 0
            found = re.search(r"VmHWM:\s+(\d+)", text)
            return int(found[1]) if found else 0

        def children(pid):
            try:
                return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            except OSError:
                return []

        def measure(count):
            pathlib.Path(log).unlink(missing_ok=True)
            command = [self.binary, "--log", log, "--echo", "none", "--",
                       self.binary, "demo-target", "--lines", str(count)]  # fmt: skip
            front = spawn(command)
            peaks = {"front": 0, "supervisor": 0}
            supervisor = None
            # A peak only grows, so the last look before the end is what counts.
            while os.waitpid(front, os.WNOHANG)[0] == 0:
                supervisor = supervisor or next(iter(children(front)), None)
                peaks["front"] = max(peaks["front"], peak(front))
                if supervisor:
                    peaks["supervisor"] = max(peaks["supervisor"], peak(supervisor))
                time.sleep(0.002)
            pathlib.Path(log).unlink(missing_ok=True)
            return peaks["front"] / 1024, peaks["supervisor"] / 1024

        table = Table(
            "Memory: the most that was resident at once, MiB",
            ["process", *(f"{c // 1_000_000} M lines" for c in counts), "range of the first", "range of the second"],
            "The supervisor's number holds the ring, 16 MiB of shared memory, which is touched all over in either run.",
        )
        values = rounds(self.options.runs, counts, measure, self.quiet)
        self.raw["memory"] = values
        for i, name in enumerate(["front", "supervisor"]):
            few, many = ([v[i] for v in values[c]] for c in counts)
            medians = statistics.median(few), statistics.median(many)
            table.row(name, *(f"{m:.1f}" for m in medians), spread(few), spread(many))
            # Within the noise: no further apart than the runs of one length are, or than a MiB.
            noise = max(1.0, max(few) - min(few))
            met = medians[1] - medians[0] <= noise
            self.aims.say(f"{name}: 10 M lines beside 1 M", f"{medians[1] - medians[0]:+.1f} MiB", f"≤ {noise:.1f} MiB", met)
        return table


# ---------------------------------------------------------------------------------------------------------------------


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", help=f"parts, with commas between them: {','.join(PARTS)}")
    parser.add_argument("--binary", help="measure this hrx-wrap instead of building one")
    parser.add_argument("--runs", type=int, default=5, help="rounds of each comparison (%(default)s)")
    parser.add_argument("--calls", type=int, default=250, help="calls of each command for the start-up (%(default)s)")
    parser.add_argument("--dispatches", type=int, default=20_000, help="dispatches of a run (%(default)s)")
    parser.add_argument("--devices", default="0,30,200", help="device times, µs (%(default)s)")
    parser.add_argument("--lines", type=int, default=5_000_000, help="lines of a throughput run (%(default)s)")
    parser.add_argument("--no-busy", dest="busy", action="store_false", help="leave out the runs beside busy loops")
    parser.add_argument("--patience", type=float, default=60, help="seconds to wait for a quiet moment for one measurement (%(default)s)")
    parser.add_argument("--folder", help="where logs are written (%(default)s)", default=tempfile.gettempdir())
    parser.add_argument("--doc", type=pathlib.Path, help="put the tables between this file's bench marks")
    parser.add_argument("--json", type=pathlib.Path, help="keep every single value in this file")
    parser.add_argument("--check", action="store_true", help="exit with 1 when an aim is missed")
    chosen = parser.parse_args()
    chosen.devices = [int(d) for d in chosen.devices.split(",")]
    chosen.only = chosen.only.split(",") if chosen.only else PARTS
    for part in chosen.only:
        if part not in PARTS:
            parser.error(f"no part '{part}': {' '.join(PARTS)}")
    return chosen


def write_doc(path, header, tables):
    text = path.read_text()
    begin, end = (text.index(mark) for mark in MARKS)
    middle = "\n\n".join([header, *(table.markdown() for table in tables)])
    path.write_text(f"{text[: begin + len(MARKS[0])]}\n{middle}\n{text[end:]}")


def main():
    chosen = options()
    install([tool for tool in ["ts", "tini"] if not shutil.which(tool)])
    binary = str(pathlib.Path(chosen.binary).resolve()) if chosen.binary else build()
    version = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    tables = []
    with tempfile.TemporaryDirectory(prefix="hrx-wrap-bench-", dir=chosen.folder) as folder:
        bench = Bench(chosen, binary, folder)
        for part in chosen.only:
            print(f"measuring: {part} …", file=sys.stderr, flush=True)
            tables.append(getattr(bench, part)())
    tables.insert(0, bench.aims.table())
    day = datetime.date.today().isoformat()
    header = f"{version}, {day}; {machine()}; medians of {chosen.runs} interleaved rounds."
    print("\n\n".join([header, *(table.text() for table in tables)]))
    quiet = bench.quiet
    print(f"\n{quiet.measured} measurements on the quiet machine: {quiet.repeated} were repeated because other processes "
          f"worked meanwhile, {quiet.disturbed} stayed disturbed after {chosen.patience:.0f} s.")  # fmt: skip
    if chosen.doc:
        write_doc(chosen.doc, header, tables)
    if chosen.json:
        chosen.json.write_text(json.dumps({"header": header, "values": bench.raw}, indent=1, default=str, skipkeys=True))
    if chosen.check and not all(met for *_, met in bench.aims.all):
        sys.exit(1)


if __name__ == "__main__":
    main()
