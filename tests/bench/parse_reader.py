#!/usr/bin/env python3
"""What users have today: sums device time by kernel from a kept trace, line by line."""
import re
import sys

FIELD = re.compile(r" ([a-z_]+)=(\S+)")
begun, sums = {}, {}
with open(sys.argv[1], encoding="utf-8", errors="replace") as trace:
    for line in trace:
        stamp, _, text = line.partition(" ")
        if "hrx debug serial: " not in text:
            continue
        event = text.split("hrx debug serial: ", 1)[1].split(" ", 1)[0]
        fields = dict(FIELD.findall(text))
        phase = fields.get("phase")
        key = (fields.get("list"), fields.get("list_commands"), fields.get("index"))
        if phase == "command-dispatch" and event == "end":
            begun[key] = int(stamp)
        elif phase == "command-post-dispatch" and event == "sync-end" and key in begun:
            kernel = fields["kernel_id"]
            count, total = sums.get(kernel, (0, 0))
            sums[kernel] = (count + 1, total + int(stamp) - begun.pop(key))
for kernel, (count, total) in sorted(sums.items(), key=lambda item: -item[1][1]):
    print(kernel, count, total)
