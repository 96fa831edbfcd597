#!/usr/bin/env python3
"""Makes docs/report.png and docs/timeline.png from a run of the demo.

    tests/browser/pictures.py [--binary FILE]

The report is the page as Chromium shows it. The timeline is some milliseconds of timeline.json, drawn here with one box a
span, since Perfetto's own viewer is a web site; it shows the same tracks, and zooms.
"""
import argparse
import html
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DRIVE = [sys.executable, HERE / "drive.py"]
WIDTH, ROW, LEFT = 1200, 30, 170
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c8c8c")


def spans_of(events, begin, end):
    tracks = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    for event in events:
        if event["ph"] in "XB":
            until = event["ts"] + event.get("dur", end - event["ts"])
            if until > begin and event["ts"] < end:
                yield event["tid"], tracks[event["tid"]], event["name"], max(event["ts"], begin), min(until, end)


def drawing(events):
    programs = sorted((e for e in events if e["name"].startswith("program of 300")), key=lambda e: e["ts"])
    begin = programs[len(programs) // 2]["ts"] - 30
    end = begin + 1_000
    spans = sorted(spans_of(events, begin, end))
    tracks = list(dict.fromkeys((tid, track) for tid, track, *_ in spans))
    names = list(dict.fromkeys(span[2] for span in spans))
    boxes = []
    for row, (_, track) in enumerate(tracks):
        boxes.append(f'<text x="4" y="{row * ROW + 20}">{html.escape(track.split(" (")[0])}</text>')
    for tid, track, name, since, until in spans:
        x, y = LEFT + (since - begin) / (end - begin) * (WIDTH - LEFT), tracks.index((tid, track)) * ROW + 4
        w = max((until - since) / (end - begin) * (WIDTH - LEFT) - .5, .6)
        short = name.split(":")[-1].removeprefix("ggml_")
        clip = short[:int(w // 6.3)] if w > 30 else ""
        boxes.append(f'<rect x="{x:.1f}" y="{y}" width="{w:.1f}" height="{ROW - 8}" fill="{COLOURS[names.index(name) % 7]}"/>'
                     f'<text x="{x + 3:.1f}" y="{y + 15}" fill="#fff">{html.escape(clip)}</text>')
    height = len(tracks) * ROW
    for tenth in range(0, 11, 2):
        x = LEFT + tenth / 10 * (WIDTH - LEFT - 40)
        boxes.append(f'<text x="{x:.0f}" y="{height + 16}" fill="#555">{tenth * (end - begin) / 10:.0f} µs</text>')
    return height + 26, (f'<body style="margin:0;background:#fff"><svg width="{WIDTH}" height="{height + 26}" '
                         f'font-family="sans-serif" font-size="11">{"".join(boxes)}</svg>')


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--binary", type=Path)
    options = options.parse_args()
    binary = options.binary
    if not binary:
        subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
        binary = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/hrx-wrap"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Under a name of its own, so that the picture names no place of this machine.
        (folder / "hrx-wrap").symlink_to(binary.resolve())
        subprocess.run([folder / "hrx-wrap", "demo", "-o", "RUN"], cwd=folder, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        subprocess.run([folder / "hrx-wrap", "parse", "RUN", "--report", "/dev/null", "--timeline", "t.json"], cwd=folder,
                       check=True)
        height, page = drawing(json.loads((folder / "t.json").read_text())["traceEvents"])
        (folder / "t.html").write_text(f"<!doctype html><meta charset=utf-8>{page}")
        for source, target, size in ((folder / "RUN/report.html", "report.png", 1150), (folder / "t.html", "timeline.png", height)):
            words = [*DRIVE, source, "--width", str(1200 if "timeline" in target else 1000), "--height", str(size),
                     "--screenshot", ROOT / "docs" / target]
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
            print(f"docs/{target}: {(ROOT / 'docs' / target).stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
