#!/usr/bin/env python3
"""What users have without hrx-wrap: `command 2>&1 | stamp_reader.py FILE` puts the time it saw a line in front of it.

As cheap as such a script gets: bytes are not decoded, and the file is written in blocks, so a kill loses the last one.
"""

import sys
import time

with open(sys.argv[1], "ab") as file:
    for line in sys.stdin.buffer:
        file.write(b"%d %s" % (time.monotonic_ns(), line))
