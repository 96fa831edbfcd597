#!/usr/bin/env python3
"""Reads a timeline with Perfetto's own classes and compares it with the report of the same run.

    check.py TIMELINE.pftrace REPORT.json

Every packet has to parse without a field that the schema does not know; every track that is used is declared before;
on a track begins and ends balance and time never goes back; every name and number refers to something; and, when
nothing was trimmed, the sums of the device's spans are the report's. Prints what it found as JSON.
"""
import collections
import json
import sys

from google.protobuf import unknown_fields
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

MONOTONIC = pb.BUILTIN_CLOCK_MONOTONIC
TOLERANCE = 1e-4


def need(true, what):
    if not true:
        sys.exit(f"check.py: {what}")


def known(message, path="Trace"):
    need(len(unknown_fields.UnknownFieldSet(message)) == 0, f"{path} has a field that its schema does not have")
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        for inner in value if isinstance(value, collections.abc.Sequence) or hasattr(value, "add") else [value]:
            known(inner, f"{path}.{field.name}")


class Reader:
    def __init__(self):
        self.tracks, self.parents, self.names, self.facts = {}, {}, {}, {}
        self.last, self.stack = {}, collections.defaultdict(list)
        self.spans, self.open, self.marks, self.counters = [], [], [], collections.Counter()
        self.clock = None

    def packet(self, packet):
        if packet.HasField("trace_packet_defaults"):
            self.clock = packet.trace_packet_defaults.timestamp_clock_id
        if packet.HasField("clock_snapshot"):
            need(packet.clock_snapshot.primary_trace_clock == MONOTONIC, "the trace's clock is not the stamps'")
            need(MONOTONIC in [c.clock_id for c in packet.clock_snapshot.clocks], "the clock has no snapshot")
        for name in packet.interned_data.event_names:
            need(name.iid not in self.names, f"name {name.iid} is given twice")
            self.names[name.iid] = name.name
        for name in packet.interned_data.debug_annotation_names:
            self.facts[name.iid] = name.name
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            need(track.uuid not in self.tracks, f"track {track.uuid} is declared twice")
            need(not track.parent_uuid or track.parent_uuid in self.tracks, f"track {track.uuid} has no parent")
            self.tracks[track.uuid] = track.name
        if packet.HasField("track_event"):
            self.event(packet)

    def event(self, packet):
        event, ns = packet.track_event, packet.timestamp
        need(self.clock == MONOTONIC, "a packet before its clock")
        need(packet.sequence_flags & pb.TracePacket.SEQ_NEEDS_INCREMENTAL_STATE, "a packet that does not need its state")
        need(event.track_uuid in self.tracks, f"track {event.track_uuid} is not declared")
        track = self.tracks[event.track_uuid]
        need(ns >= self.last.get(event.track_uuid, 0), f"time goes back on '{track}'")
        self.last[event.track_uuid] = ns
        need(not event.name_iid or event.name_iid in self.names, f"name {event.name_iid} is not known")
        name = self.names[event.name_iid] if event.name_iid else event.name
        if event.type == pb.TrackEvent.TYPE_SLICE_BEGIN:
            facts = {}
            for fact in event.debug_annotations:
                need(fact.name_iid in self.facts, f"annotation {fact.name_iid} is not known")
                facts[self.facts[fact.name_iid]] = getattr(fact, fact.WhichOneof("value"))
            need(not self.stack[event.track_uuid], f"spans overlap on '{track}'")
            if facts.get("open"):
                self.open.append((track, name, ns))
            else:
                self.stack[event.track_uuid].append((name, ns, facts))
        elif event.type == pb.TrackEvent.TYPE_SLICE_END:
            need(self.stack[event.track_uuid], f"an end without a begin on '{track}'")
            name, begin, facts = self.stack[event.track_uuid].pop()
            self.spans.append((track, name, begin, ns, facts))
        elif event.type == pb.TrackEvent.TYPE_INSTANT:
            self.marks.append(name)
        else:
            need(event.type == pb.TrackEvent.TYPE_COUNTER, f"an event of type {event.type}")
            self.counters[track] += 1


def launches_of(reader):
    whole = [s for s in reader.spans if s[0].startswith("launches") and not s[4].get("left")]
    return len(whole), sum(end - begin for _, _, begin, end, _ in whole)


def sums_of(reader):
    sums = collections.defaultdict(lambda: [0, 0])
    for track, _, begin, end, facts in reader.spans:
        if track.startswith("device") and not facts.get("left"):
            key = (facts["list"], facts["list_commands"], str(facts.get("kernel_id")))
            sums[key][0] += 1
            sums[key][1] += end - begin
    return sums


def compare(reader, report):
    expected = collections.defaultdict(lambda: [0, 0])
    for program in report["programs"]:
        for kernel in program["kernels"]:
            key = (program["list"], program["list_commands"], str(kernel["kernel_id"]))
            expected[key][0] += kernel["count"]
            expected[key][1] += kernel["total_ns"]
    sums = sums_of(reader)
    need(set(sums) == set(expected), f"kernels differ: {set(sums) ^ set(expected)}")
    for key, (count, total) in expected.items():
        need(sums[key][0] == count, f"{key}: {sums[key][0]} spans, {count} dispatches")
        need(abs(sums[key][1] - total) <= TOLERANCE * total, f"{key}: {sums[key][1]} ns, {total} ns in the report")
    launches, launch_ns = launches_of(reader)
    total = sum(program["launch_ns"] for program in report["programs"])
    need(launches == sum(program["dispatches"] for program in report["programs"]), f"{launches} whole launches")
    need(abs(launch_ns - total) <= TOLERANCE * total, f"launches: {launch_ns} ns, {total} ns in the report")
    left = [span for span in reader.spans if span[4].get("left") and span[0].startswith("launches")]
    opened = [one for one in reader.open if one[0].startswith("launches")]
    # The report names so many of them at most, the timeline draws them all.
    need(len(opened) + len(left) >= len(report["open"]), f"open: {opened}, {left}, in the report {report['open']}")


def main():
    trace = pb.Trace()
    with open(sys.argv[1], "rb") as file:
        trace.ParseFromString(file.read())
    with open(sys.argv[2]) as file:
        report = json.load(file)
    known(trace)
    reader = Reader()
    for packet in trace.packet:
        reader.packet(packet)
    left = [track for track, stack in reader.stack.items() if stack]
    need(not left, f"begins without an end on {left}")
    trimmed = any(mark.startswith("TRIMMED") for mark in reader.marks)
    if not trimmed:
        compare(reader, report)
    tracks = collections.Counter(span[0] for span in reader.spans)
    device = sum(end - begin for track, _, begin, end, _ in reader.spans if track.startswith("device"))
    print(json.dumps({"packets": len(trace.packet), "spans": len(reader.spans), "tracks": tracks, "open": reader.open,
                      "marks": reader.marks, "counters": reader.counters, "trimmed": trimmed, "device_ns": device}))


if __name__ == "__main__":
    main()
