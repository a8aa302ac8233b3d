"""What the library writes is what the page says: the stranger's reader agrees.

  savepoint_reader_test.py WRITE_SAVEPOINT
"""
import os
import subprocess
import sys
import tempfile
import unittest

import zstandard

import read_savepoint

WRITER = None
START_MS = 1700000000000

STREAK = {
    "name": "streak",
    "kind": "value",
    "key_serializer": "string@1",
    "value_serializer": "int64@1",
    "map_key_serializer": None,
    "ttl_ms": None,
    "entries": [
        {"key": "", "value": "ffffffffffffffff"},
        {"key": b"DTW".hex(), "value": "0000000000000007"},
    ],
}
RECENT = {
    "name": "recent",
    "kind": "list",
    "key_serializer": "string@1",
    "value_serializer": "string@1",
    "map_key_serializer": None,
    "ttl_ms": 10800000,
    "entries": [{
        "key": b"DTW".hex(),
        "elements": [
            {"timestamp": START_MS, "value": b"a".hex()},
            {"timestamp": START_MS + 1, "value": ""},
        ],
    }],
}
ROUTES_ENTRIES = [
    {"key": b"DTW".hex(), "map_key": "", "timestamp": START_MS + 1,
     "value": "00"},
    {"key": b"DTW".hex(), "map_key": b"ORD".hex(), "timestamp": START_MS,
     "value": "01" + b"daily".hex()},
]


class SavepointReaderTest(unittest.TestCase):

    def written(self, backend):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "savepoint")
            subprocess.run([WRITER, backend, path], check=True)
            with open(path, "rb") as file:
                return file.read()

    def test_reads_what_either_backend_has_written(self):
        for backend in ("heap", "rocksdb"):
            read = read_savepoint.read_savepoint(self.written(backend))
            self.assertEqual(read["processing_clock_ms"], START_MS + 1)
            self.assertEqual(bytes.fromhex(read["position"]), b"line 42")
            states = {state["name"]: state for state in read["states"]}
            self.assertEqual(set(states), {"streak", "recent", "routes"})
            self.assertEqual(states["streak"], STREAK)
            self.assertEqual(states["recent"], RECENT)
            self.assertEqual(states["routes"]["kind"], "map")
            self.assertEqual(states["routes"]["map_key_serializer"],
                             "string@1")
            self.assertEqual(states["routes"]["entries"], ROUTES_ENTRIES)

    def test_refuses_what_is_cut_short_or_altered(self):
        data = self.written("heap")
        good = read_savepoint.read_savepoint(data)
        errors = (read_savepoint.Damaged, zstandard.ZstdError)
        for size in range(0, len(data)):
            with self.assertRaises(errors):
                read_savepoint.read_savepoint(data[:size])
        altered = 0
        for at in range(len(data)):
            flipped = bytearray(data)
            flipped[at] ^= 0x10
            try:
                read = read_savepoint.read_savepoint(bytes(flipped))
            except errors:
                altered += 1
                continue
            self.assertEqual(read, good, "byte %d" % at)
        self.assertGreater(altered, len(data) * 9 // 10)


if __name__ == "__main__":
    WRITER = sys.argv.pop()
    unittest.main()
