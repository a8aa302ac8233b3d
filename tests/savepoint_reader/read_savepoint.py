#!/usr/bin/env python3
"""Prints what a savepoint file of Mayfly holds, as JSON.

Written from docs/savepoint-format.md alone, so that the page is known to say
enough. It checks what the page says a reader must check.
"""
import json
import struct
import sys

import zstandard

KINDS = {1: "value", 2: "list", 3: "map", 4: "reducing", 5: "aggregating"}
MAP_KIND = 3
LIST_KIND = 2


class Damaged(Exception):
    pass


def check(condition, why):
    if not condition:
        raise Damaged(why)


def varint(data, at):
    value = shift = 0
    while True:
        check(at < len(data) and shift < 70, "a varint has no end")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def take(data, at, size):
    check(at + size <= len(data), "a length is beyond its end")
    return data[at:at + size], at + size


def fields(message):
    """The fields of a protobuf message: {number: [value, ...]}."""
    found = {}
    at = 0
    while at < len(message):
        tag, at = varint(message, at)
        if tag & 7 == 0:
            value, at = varint(message, at)
        elif tag & 7 == 2:
            size, at = varint(message, at)
            value, at = take(message, at, size)
        elif tag & 7 == 1:
            value, at = take(message, at, 8)
        elif tag & 7 == 5:
            value, at = take(message, at, 4)
        else:
            raise Damaged("a message has a field of unknown form")
        found.setdefault(tag >> 3, []).append(value)
    return found


def first(message, number, default):
    return message.get(number, [default])[0]


def zigzag(value):
    return (value >> 1) ^ -(value & 1)


def serializer(message):
    if message is None:
        return None
    identity = fields(message)
    return "%s@%d" % (first(identity, 1, b"").decode(), first(identity, 2, 0))


def packed(values):
    """Repeated integers, each by itself or many in one field."""
    numbers = []
    for value in values:
        if isinstance(value, int):
            numbers.append(value)
            continue
        at = 0
        while at < len(value):
            number, at = varint(value, at)
            numbers.append(number)
    return numbers


def read_block(data, at):
    """(tag, state, content, where the next block begins)."""
    header, at = take(data, at, 9)
    frame_bytes, = struct.unpack("<I", header[5:])
    frame, at = take(data, at, frame_bytes)
    # Checks the frame's checksum.
    content = zstandard.ZstdDecompressor().decompress(frame)
    check(content[:5] == header[:5], "a block is not what its header says")
    state, = struct.unpack("<I", header[1:5])
    return chr(header[0]), state, content[5:], at


def read_entry(data, has_ttl):
    if not has_ttl:
        return {"value": data.hex()}
    stamp, at = take(data, 0, 8)
    timestamp, = struct.unpack(">q", stamp)
    return {"timestamp": timestamp, "value": data[at:].hex()}


def read_list(data, has_ttl):
    elements = []
    at = 0
    while at < len(data):
        stamp = b""
        if has_ttl:
            stamp, at = take(data, at, 8)
        size, at = take(data, at, 4)
        value, at = take(data, at, struct.unpack("<I", size)[0])
        elements.append(read_entry(stamp + value, has_ttl))
    return elements


def read_state(data, record, footer, index):
    kind = first(record, 2, 0)
    ttl = record.get(6)
    entries = []
    for offset in packed(footer.get(3, [])):
        tag, state, content, _ = read_block(data, offset)
        check(tag == "E" and state == index, "a block is out of place")
        at = 0
        while at < len(content):
            size, at = varint(content, at)
            key, at = take(content, at, size)
            size, at = varint(content, at)
            value, at = take(content, at, size)
            entry = {}
            if kind == MAP_KIND:
                size, begin = varint(key, 0)
                entry["key"] = key[begin:begin + size].hex()
                entry["map_key"] = key[begin + size:].hex()
            else:
                entry["key"] = key.hex()
            if kind == LIST_KIND:
                entry["elements"] = read_list(value, ttl is not None)
            else:
                entry.update(read_entry(value, ttl is not None))
            entries.append(entry)
    check(len(entries) == first(footer, 1, 0),
          "a state has another number of entries than the footer says")
    entries.sort(key=lambda e: (e["key"], e.get("map_key", "")))
    return {
        "name": first(record, 1, b"").decode(),
        "kind": KINDS[kind],
        "key_serializer": serializer(first(record, 3, None)),
        "value_serializer": serializer(first(record, 4, None)),
        "map_key_serializer": serializer(first(record, 5, None)),
        "ttl_ms": zigzag(first(fields(ttl[0]), 1, 0)) if ttl else None,
        "entries": entries,
    }


def read_savepoint(data):
    check(len(data) >= 24 and data[:8] == b"MAYFLYS1",
          "it does not begin like a savepoint")
    check(data[-8:] == b"MAYFLYE1", "it is cut short")
    tag, _, content, blocks_begin = read_block(data, 8)
    check(tag == "R", "its first block is not a record")
    record = fields(content)
    check(first(record, 1, 0) == 1, "it is of another version")
    footer_offset, = struct.unpack("<Q", data[-16:-8])
    tag, _, content, footer_end = read_block(data, footer_offset)
    check(tag == "F" and footer_end == len(data) - 16,
          "its footer is not where its end says")
    footer = fields(content)
    states = [fields(message) for message in record.get(3, [])]
    counts = [fields(message) for message in footer.get(2, [])]
    check(len(states) == len(counts), "its footer is of other states")
    offsets = []
    at = blocks_begin
    while at < footer_offset:
        offsets.append(at)
        at = read_block(data, at)[3]
    check(at == footer_offset, "there is a gap before the footer")
    check(sorted(o for c in counts for o in packed(c.get(3, []))) == offsets,
          "the footer does not lead to all blocks")
    commit = fields(first(footer, 1, b""))
    return {
        "processing_clock_ms": zigzag(first(commit, 2, 0)),
        "event_clock_ms": zigzag(first(commit, 3, 0)),
        "position": first(commit, 4, b"").hex(),
        "states": [
            read_state(data, state, count, index)
            for index, (state, count) in enumerate(zip(states, counts))
        ],
    }


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: read_savepoint.py FILE")
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    try:
        json.dump(read_savepoint(data), sys.stdout, indent=1)
    except (Damaged, zstandard.ZstdError) as error:
        sys.exit("'%s' is damaged: %s" % (sys.argv[1], error))
    print()


if __name__ == "__main__":
    main()
