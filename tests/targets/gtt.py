#!/usr/bin/env python3
"""A process of a fake /proc with one DRM client.

    gtt.py PROC TABLE STEP...

It enters itself into PROC as a child of its parent, then takes its steps: N holds N MiB of GTT and waits until the table
of samples has that; =N holds them and does not wait; none says nothing of its memory any more; say:TEXT prints a line
on stderr and waits until the log beside the table has it; +LINE prints it and does not wait; idle says so on stdout and
lives until a signal; exitN ends it.
"""
import os
import signal
import sys
import time

proc, table, *steps = sys.argv[1:]
me = f"{proc}/{os.getpid()}"
os.makedirs(f"{me}/fdinfo")
fd = os.open(f"{me}/fdinfo/4", os.O_WRONLY | os.O_CREAT)
WHO = "drm-driver:\tamdgpu\ndrm-client-id:\t31\ndrm-pdev:\t0000:c5:00.0\n"
FIGURES = "drm-total-gtt:\t{total:9} KiB\ndrm-shared-gtt:\t{shared:9} KiB\ndrm-resident-gtt:\t{kib:9} KiB\ndrm-resident-vram:\t   512 KiB\n"
SIZE = len(WHO + FIGURES.format(kib=0, total=0, shared=0))


def write(text):
    # In one piece and of one length, as the kernel's is: a reader never sees a part.
    os.pwrite(fd, (text + "\n" * (SIZE - len(text))).encode(), 0)


def rows():
    try:
        with open(table) as file:
            return [line.split("\t") for line in file.read().split("\n")[1:-1]]
    except OSError:
        return []


def wait(condition, what="the table"):
    until = time.monotonic() + 50
    while not condition():
        if time.monotonic() > until:
            sys.exit(f"{what} does not have it")
        time.sleep(0.002)


def wait_for_row(is_it):
    wait(lambda: any(is_it(row) for row in rows()))


def say(text):
    os.write(2, (text + "\n").encode())
    log = os.path.join(os.path.dirname(table), "trace.log")
    wait(lambda: f" {text}\n" in open(log).read(), "the log")


def hold(mib):
    write(WHO + FIGURES.format(kib=mib << 10, total=(mib << 10) + 1024, shared=1024))


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
with open(f"{me}/statm", "w") as file:
    file.write("900 256 10 1 0 1 0\n")
# Last: with this it is there.
with open(f"{me}/stat.new", "w") as file:
    file.write(f"{os.getpid()} (gtt) S {os.getppid()} 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 7 0\n")
os.rename(f"{me}/stat.new", f"{me}/stat")
for step in steps:
    if step.startswith("+"):
        print(step[1:], file=sys.stderr, flush=True)
    elif step == "idle":
        print("ready", flush=True)
        while True:
            signal.pause()
    elif step.startswith("say:"):
        say(step[4:])
    elif step == "none":
        write(WHO)
        wait_for_row(lambda row: row[8] == "partial")
    elif step.startswith("="):
        hold(int(step[1:]))
    elif step.startswith("exit"):
        sys.exit(int(step[4:]))
    else:
        hold(int(step))
        wait_for_row(lambda row: row[1] == str(int(step) << 20))
