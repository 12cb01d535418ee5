# SPDX-License-Identifier: BSD-3-Clause
"""The page of `sinew report` in a real browser without a window: what a figure looks like beside a
stored picture, loosely; that nothing is wider than a phone. Skipped (77) where no browser is.

browser_test.py SINEW PROBE
SINEW_TEST_STORE=1 stores the pictures anew: look at them before they are committed.
"""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

import report_test
from support import SINEW
from support import run as run_program

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
STORED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pictures")
BLOCK = 5  # pixels of a side that become one number, in pictures of half the size
PHONE = 390


def browse(address, *words):
    done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu",
                           "--hide-scrollbars", "--force-device-scale-factor=0.5", *words,
                           "file://" + address], timeout=100, check=True, capture_output=True,
                          text=True)
    return done.stdout


def png_rows(path):
    """Lines of pixels, each its bytes; and how many bytes a pixel has. 8 bits, not interlaced."""
    with open(path, "rb") as file:
        data = file.read()
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", data[at + 8:at + 18])
        elif kind == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += length + 12
    assert depth == 8 and colour in (2, 6), (depth, colour)
    step = 3 if colour == 2 else 4
    plain, rows, above = zlib.decompress(packed), [], bytearray(width * step)
    for y in range(height):
        begin = y * (width * step + 1)
        how, row = plain[begin], bytearray(plain[begin + 1:begin + 1 + width * step])
        for i in range(len(row) if how else 0):
            left, up = row[i - step] if i >= step else 0, above[i]
            corner = above[i - step] if i >= step else 0
            guess = left + up - corner
            nearest = min((left, up, corner), key=lambda v, g=guess: abs(g - v))
            row[i] = (row[i] + (left, up, (left + up) // 2, nearest)[how - 1]) % 256
        rows.append(row)
        above = row
    return rows, step


def darkness(path):
    """How dark each block of a picture is, 0 to 255."""
    rows, step = png_rows(path)
    wide, high = len(rows[0]) // step // BLOCK, len(rows) // BLOCK
    found = [[0] * wide for _ in range(high)]
    for y in range(high * BLOCK):
        for x in range(wide * BLOCK):
            pixel = rows[y][x * step:x * step + 3]
            found[y // BLOCK][x // BLOCK] += 255 - sum(pixel) // 3
    return [[value // BLOCK**2 for value in row] for row in found]


def likeness(one, other):
    """Correlation of two pictures of like size, each blurred by a block: 1 for the same one."""
    def blurred(of):
        return [sum(of[v][u] for v in range(max(y - 1, 0), min(y + 2, len(of)))
                    for u in range(max(x - 1, 0), min(x + 2, len(of[0]))))
                for y in range(len(of)) for x in range(len(of[0]))]

    a, b = blurred(one), blurred(other)
    assert len(a) == len(b), "pictures of other sizes"
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    both = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b))
    return both / (sum((x - mean_a)**2 for x in a) * sum((y - mean_b)**2 for y in b))**0.5


class Browser(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = place.name

    def report(self, document):
        path = os.path.join(self.folder, "a.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
        done = run_program(SINEW, "report", path, "-o", os.path.join(self.folder, "page"))
        self.assertEqual(done.code, 0, done.err)
        return os.path.join(self.folder, "page")

    def look(self, document, figure):
        page = self.report(document)
        picture = os.path.join(self.folder, "picture.png")
        browse(os.path.join(page, figure + ".svg"), "--window-size=640,420",
               "--screenshot=" + picture)
        return darkness(picture)

    def wanted(self, figure, seen):
        """The stored picture, as PGM in words, which any viewer shows."""
        path = os.path.join(STORED, figure + ".pgm")
        if os.environ.get("SINEW_TEST_STORE"):
            os.makedirs(STORED, exist_ok=True)
            with open(path, "w", encoding="ascii") as file:
                file.write(f"P2\n{len(seen[0])} {len(seen)}\n255\n")
                for row in seen:
                    file.write(" ".join(str(255 - value) for value in row) + "\n")
        with open(path, encoding="ascii") as file:
            numbers = [int(word) for word in file.read().split()[1:]]
        wide = numbers[0]
        values = [255 - value for value in numbers[3:]]
        return [values[at:at + wide] for at in range(0, len(values), wide)]

    def several(self, factor=1):
        params = {"wildcard": "none", "cache": "warm", "queue": "posted", "depth": 1024}
        rows = [report_test.result(who, {**params, "bytes": size, "collisions": percent},
                                   speed * size / (1 + percent / 10), "matching", "bandwidth",
                                   metric="bandwidth", unit="MB/s")
                for who, speed in (("sinew:hash", 8), ("sinew:bins1021", 3 * factor),
                                   ("openmpi-ucx", 1))
                for percent in (0, 100) for size in (1, 64, 4096, 262144)]
        return {**report_test.document(), "results": rows}

    def test_figures_look_as_they_did(self):
        for figure, document, other in (
                ("latency-one-thread", report_test.document(), report_test.document(8)),
                ("matching-2b", self.several(), self.several(64))):
            seen = self.look(document, figure)
            wanted = self.wanted(figure, seen)
            self.assertGreater(likeness(seen, wanted), 0.85, figure)
            # What is measured must be what is seen.
            self.assertLess(likeness(self.look(other, figure), wanted),
                            likeness(seen, wanted) - 0.05, figure)

    def test_the_page_fits_a_phone_and_a_desk(self):
        page = self.report(report_test.document())
        with open(os.path.join(page, "index.html"), encoding="utf-8") as file:
            text = file.read()
        with open(os.path.join(page, "told.html"), "w", encoding="utf-8") as file:
            file.write(text.replace("</body>", "<script>parent.postMessage(document."
                                    "documentElement.scrollWidth, '*')</script></body>"))
        for width in (PHONE, 1200):
            with open(os.path.join(page, "outer.html"), "w", encoding="utf-8") as file:
                file.write(f"<body><iframe src='told.html' width='{width}' height='800' "
                           "style='border:0'></iframe><script>addEventListener('message', "
                           "e => {document.body.dataset.width = e.data})</script></body>")
            said = browse(os.path.join(page, "outer.html"), "--virtual-time-budget=5000",
                          "--dump-dom")
            found = re.search(r'data-width="(\d+)"', said)
            self.assertIsNotNone(found, said[:500])
            self.assertLessEqual(int(found.group(1)), width)

    def test_a_phone_shows_the_beginning(self):
        page = self.report(report_test.document())
        picture = os.path.join(self.folder, "picture.png")
        browse(os.path.join(page, "index.html"), "--window-size=500,800",
               "--screenshot=" + picture)
        dark = darkness(picture)
        inked = sum(1 for row in dark if max(row) > 10)
        self.assertGreater(inked, len(dark) // 3, "an empty page")


if __name__ == "__main__":
    if BROWSER is None:
        print("skipped: none of " + ", ".join(BROWSERS) + " is here")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
