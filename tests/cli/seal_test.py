"""Sealed files that somebody changed, in each container: the command refuses them, or two decoders show the pictures that
were sealed. CU264_SEALED_FILES says how many changed files are tried."""
import os
import random
import re
import subprocess
import unittest

from made_containers import annexb, matroska, mp4, transport_stream
from protect_case import ProtectCase
from support import CU264, QUICK, TIMEOUT, decoded_md5, ffmpeg, ffprobe, main

COUNT = int(os.environ.get("CU264_SEALED_FILES", "120" if QUICK else "240"))
OPENH264 = os.environ.get("OPENH264_PICTURES", "")
WIDTH, HEIGHT = 48, 32
KINDS = ("264", "mp4", "mkv", "ts")
PARTS = {"baseline": "signs,modes,codewords", "high": "signs,suffixes"}  # by profile: what its coder allows
DELIMITER, FILLER, MESSAGE = b"\x09\x10", b"\x0c\xff\xff\x80", b"\x06\x2f\x03\1\2\3\x80"


def units_of(stream):
    return [unit for unit in re.split(rb"\x00?\x00\x00\x01", stream) if unit]


def kind_of(unit):
    return unit[0] & 31 if unit else 0


def packets_of(units):
    """One for each picture."""
    packets, has_slice = [[]], False
    for unit in units:
        kind = kind_of(unit)
        first = kind in (1, 5) and unit[1] & 0x80
        if has_slice and (kind in (6, 7, 8, 9) or first):
            packets.append([])
            has_slice = False
        packets[-1].append(unit)
        has_slice |= kind in (1, 5)
    return packets


def file_of(kind, packets, sets):
    if kind == "264":
        return annexb(unit for packet in packets for unit in packet)
    if kind == "ts":
        return transport_stream(packets)
    return (mp4 if kind == "mp4" else matroska)(packets, sets, WIDTH, HEIGHT)


class Change:
    """One to three changes of the packets and of the parameter sets outside, and then of the file's bytes."""

    def __init__(self, seed, packets, sets):
        self.random = random.Random(seed)
        self.packets, self.sets = [list(packet) for packet in packets], list(sets)
        self.done = []

    def place(self, empty=False):
        packet = self.random.choice([packet for packet in self.packets if packet or empty] or [[]])
        return packet, self.random.randrange(len(packet) + empty) if packet or empty else 0

    def any_unit(self):
        return self.random.choice([unit for packet in self.packets for unit in packet] or [b"\x09\x10"])

    def insert(self, unit):
        packet, at = self.place(empty=True)
        packet.insert(at, unit)

    def changed(self, unit, early=False):
        data = bytearray(unit)
        data[self.random.randrange(min(len(data), 8) if early else len(data))] ^= 1 << self.random.randrange(8)
        return bytes(data)

    def unit_removed(self):
        packet, at = self.place()
        del packet[at:at + 1]

    def unit_repeated(self):
        self.insert(self.any_unit())

    def unit_moved(self):
        packet, at = self.place()
        if packet:
            self.insert(packet.pop(at))

    def unit_inserted(self):
        made = bytes([self.random.randrange(256)]) + self.random.randbytes(self.random.randrange(1, 20)).replace(b"\0", b"\1")
        sets = self.sets or [DELIMITER]
        self.insert(self.random.choice([DELIMITER, FILLER, MESSAGE, made, self.random.choice(sets), b"\x0a", b"\x0b",
                                        self.changed(self.random.choice(sets), early=True)]))

    def unit_with_a_start_code(self):
        self.insert(self.random.choice([FILLER[:2], DELIMITER]) + b"\0\0\1" + self.any_unit())

    def bits_changed(self):
        packet, at = self.place()
        if packet:
            packet[at] = self.changed(packet[at], self.random.random() < 0.5)

    def packet_removed(self):
        del self.packets[self.random.randrange(len(self.packets))]
        self.packets = self.packets or [[]]

    def packet_repeated(self):
        self.packets.insert(self.random.randrange(len(self.packets) + 1), list(self.random.choice(self.packets)))

    def packets_exchanged(self):
        a, b = (self.random.randrange(len(self.packets)) for _ in range(2))
        self.packets[a], self.packets[b] = self.packets[b], self.packets[a]

    def packets_joined(self):
        at = self.random.randrange(len(self.packets))
        self.packets[at:at + 2] = [sum(self.packets[at:at + 2], [])]

    def packet_split(self):
        at = self.random.randrange(len(self.packets))
        cut = self.random.randrange(len(self.packets[at]) + 1)
        self.packets[at:at + 1] = [self.packets[at][:cut], self.packets[at][cut:]]

    def sets_changed(self):
        choice = self.random.randrange(6)
        if choice == 0:
            self.sets = []
        elif choice == 1:
            self.sets = self.sets[:1]
        elif choice == 2:
            self.sets.append(self.any_unit())
        elif choice == 3:
            self.sets.insert(self.random.randrange(len(self.sets) + 1), self.changed(self.random.choice(self.sets or [b"\x68\0"]), True))
        elif choice == 4 and len(self.sets) > 1:
            self.sets = [self.sets[0] + b"\0\0\0\1" + self.sets[1]]
        else:  # the packets have none
            self.packets = [[unit for unit in packet if kind_of(unit) not in (7, 8)] for packet in self.packets]

    def make(self, kind):
        changes = [self.unit_removed, self.unit_repeated, self.unit_moved, self.unit_moved, self.unit_inserted, self.unit_inserted,
                   self.unit_with_a_start_code, self.bits_changed, self.packet_removed, self.packet_repeated,
                   self.packets_exchanged, self.packets_joined, self.packet_split, self.sets_changed]
        for change in self.random.choices(changes, k=self.random.choice((0, 1, 1, 1, 2, 3))):
            self.done.append(change.__name__)
            change()
        data = bytearray(file_of(kind, self.packets, self.sets))
        if not self.done or self.random.random() < 0.1:
            self.done.append("bytes")
            for _ in range(self.random.choice((1, 1, 2, 5))):
                data[self.random.randrange(len(data))] ^= 1 << self.random.randrange(8)
        if self.random.random() < 0.05:
            self.done.append("cut")
            begin = self.random.randrange(len(data))
            del data[begin:self.random.choice((len(data), begin + 1, begin + 188))]
        return bytes(data)


class Seals(ProtectCase):
    def shown(self, path):
        """What two decoders show of a file."""
        seen = [decoded_md5(path)]
        if OPENH264:
            stream = path
            if not path.endswith(".264"):
                stream = self.path("shown.264")
                ffmpeg("-i", path, "-map", "0:v:0", "-c", "copy", stream)
            seen.append(subprocess.run([OPENH264, stream], check=True, timeout=TIMEOUT, stdout=subprocess.PIPE).stdout)
        return seen

    def sealed(self, profile="baseline"):
        plain, sealed = self.path("plain.264"), self.path("sealed.264")
        source = self.clip("source.y4m", f"testsrc2=size={WIDTH}x{HEIGHT}:rate=5,noise=alls=40:allf=t", 5)
        self.encode(source, "-o", plain, "-y", "--quiet", "--slices", 2, "--qp", 36, "--headers", "every", "--profile", profile)
        self.with_key("protect", "encrypt", plain, "-o", sealed, "-y", "--authenticate", "--parts", PARTS[profile])
        units = units_of(self.read("sealed.264"))
        sets = [next(unit for unit in units if kind_of(unit) == kind) for kind in (7, 8)]
        return packets_of(units), sets, self.shown(plain)

    def test_containers_that_cannot_be_copied(self):
        packets, sets, _ = self.sealed()
        undescribed = matroska(packets, sets, WIDTH, HEIGHT).replace(b"\x63\xa2", b"\x63\xa3", 1)  # CodecPrivate
        given = {"mkv": (undescribed, b"what it says of its streams"),
                 "ts": (transport_stream(packets, [0, 90000, 3600, 7200, 10800]), b"back")}
        for kind, (file, what) in given.items():
            with self.subTest(kind=kind):
                opened = self.path(f"opened.{kind}")
                done = subprocess.run([CU264, "protect", "decrypt", self.write(f"given.{kind}", file), "-o", opened, "-y", "--key-file",
                                       self.path("key")], stderr=subprocess.PIPE, timeout=TIMEOUT)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(what, done.stderr)
                self.assertFalse(os.path.exists(opened))

    def test_changed_files(self):
        streams = [self.sealed(profile) for profile in PARTS]
        unchanged = len(KINDS) * len(streams)
        accepted = 0
        for seed in range(COUNT):
            kind = KINDS[seed % len(KINDS)]
            packets, sets, right = streams[seed // len(KINDS) % len(streams)]
            self.assertEqual(len(packets), 5)
            change = Change(seed, packets, sets)
            given = self.write(f"changed.{kind}", change.make(kind) if seed >= unchanged else file_of(kind, packets, sets))
            # A bare stream comes out of a container, too.
            opened = self.path("opened." + ("264" if seed % 5 == 4 else kind))
            done = subprocess.run([CU264, "protect", "decrypt", given, "-o", opened, "-y", "--require-authentication",
                                   "--key-file", self.path("key")], stderr=subprocess.PIPE, timeout=TIMEOUT)
            with self.subTest(seed=seed, kind=kind, changes=change.done):
                if done.returncode != 0:
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertEqual(len([line for line in done.stderr.splitlines() if b"error" in line]), 1, done.stderr)
                    self.assertFalse(os.path.exists(opened))
                    self.assertGreaterEqual(seed, unchanged, "a file that nobody changed")
                    continue
                accepted += 1
                try:
                    self.assertEqual(self.shown(opened), right)
                finally:
                    os.remove(opened)
        print(f"{COUNT} changed files, {accepted} accepted; openh264 {'decoded them too' if OPENH264 else 'is missing'}")
        self.assertGreater(accepted, unchanged)

    def test_units_in_the_packets_of_other_pictures(self):
        packets, sets, right = self.sealed()
        packets = packets[:1] + [[DELIMITER, *packet] for packet in packets[1:]]
        cut = next(at for at, unit in enumerate(packets[2]) if kind_of(unit) == 5)
        moved = {f"{count} units moved back": [*packets[:1], packets[1] + packets[2][:count], packets[2][count:], *packets[3:]]
                 for count in range(1, cut + 1)}
        moved["a packet before its picture"] = [*packets[:2], packets[2][:cut], packets[2][cut:], *packets[3:]]
        for name, unit in (("delimiter", DELIMITER), ("filler data", FILLER), ("message", MESSAGE)):
            moved[f"a packet of a {name}"] = [*packets[:2], [unit], *packets[2:]]
        moved["a slice in the packet of the picture before"] = [
            packets[0], packets[1] + packets[2][:cut + 1], packets[2][cut + 1:], *packets[3:]]
        for kind, write in (("mp4", mp4), ("mkv", matroska)):
            given, opened = self.write(f"right.{kind}", write(packets, sets, WIDTH, HEIGHT)), self.path(f"opened.{kind}")
            self.with_key("protect", "decrypt", given, "-o", opened, "--require-authentication")
            for name, wrong in moved.items():
                with self.subTest(kind=kind, name=name):
                    given = self.write(f"moved.{kind}", write(wrong, sets, WIDTH, HEIGHT))
                    self.fails_with(2, "access unit|more than one picture|authentication", "protect", "decrypt", given, "-o",
                                    self.path("x.mp4"), "--require-authentication", "--key-file", self.path("key"))

    def test_what_stands_in_other_packets_is_sealed_in_its_own(self):
        self.sealed()
        packets = packets_of(units_of(self.read("plain.264")))
        sets = [next(unit for unit in packets[0] if kind_of(unit) == kind) for kind in (7, 8)]
        packets = [[MESSAGE, *packet] for packet in packets]
        moved = [packets[0] + packets[1][:1], packets[1][1:] + packets[2][:2], packets[2][2:], packets[3][:1], packets[3][1:],
                 *packets[4:], [MESSAGE]]
        times = [0, 40, 80, 100, 120, 160, 200]
        given = self.write("moved.mkv", matroska(moved, sets, WIDTH, HEIGHT, times))
        for kind in ("mkv", "mp4"):
            sealed, opened = self.path(f"sealed.{kind}"), self.path(f"opened.{kind}")
            self.with_key("protect", "encrypt", given, "-o", sealed, "--authenticate")
            found = ffprobe(sealed, "-show_packets")["packets"]
            self.assertEqual([round(1000 * float(packet["pts_time"])) for packet in found], [0, 40, 80, 120, 160])
            self.with_key("protect", "decrypt", sealed, "-o", opened, "--require-authentication")
            self.with_key("protect", "decrypt", sealed, "-o", self.path("opened.264"), "-y", "--require-authentication")
            units = [unit for unit in units_of(self.read("opened.264"))[len(sets):]]
            self.assertEqual(units, [unit for packet in moved for unit in packet])

    def test_what_only_some_readers_of_a_container_see(self):
        packets, sets, _ = self.sealed()
        bare = [[unit for unit in packet if kind_of(unit) not in (7, 8)] for packet in packets]
        other_sets = [sets[0], sets[1][:-1] + bytes([sets[1][-1] ^ 0x40])]
        joined = [packets[0] + packets[1], *packets[2:]]
        inside = [[FILLER + b"\0\0\1" + DELIMITER, *packets[0]], *packets[1:]]
        for kind, write in (("mp4", mp4), ("mkv", matroska)):
            for name, pattern, data in (
                    ("two pictures in a packet", "more than one picture", write(joined, sets, WIDTH, HEIGHT)),
                    ("a start code in a unit", "damaged", write(inside, sets, WIDTH, HEIGHT)),
                    ("a start code in a parameter set", "damaged", write(bare, [sets[0] + b"\0\0\1" + sets[1]], WIDTH, HEIGHT)),
                    ("a slice among the parameter sets", "damaged", write(packets, [*sets, packets[0][-1]], WIDTH, HEIGHT)),
                    ("no parameter sets", "before its parameter sets", write(bare, [], WIDTH, HEIGHT))):
                with self.subTest(kind=kind, name=name):
                    given = self.write(f"hidden.{kind}", data)
                    for action in (("decrypt", "--require-authentication"), ("encrypt",)):
                        wanted = pattern if action[0] == "decrypt" else pattern + "|encrypted already"
                        self.fails_with(2, wanted, "protect", *action, given, "-o", self.path("x.264"), "--key-file", self.path("key"))
        given = self.write("described.mp4", mp4(packets, sets, WIDTH, HEIGHT, (2, other_sets)))
        self.fails_with(2, "description .* changes", "protect", "decrypt", given, "-o", self.path("x.mp4"), "--key-file", self.path("key"))
        given = self.write("described.mp4", mp4(packets, sets, WIDTH, HEIGHT, (2, sets)))
        self.with_key("protect", "decrypt", given, "-o", self.path("same.mp4"), "--require-authentication")
        # What is found in later packets of a transport stream is not there before.
        given = self.write("late.ts", transport_stream([bare[0], *packets[1:]]))
        self.fails_with(2, "before its parameter sets", "protect", "decrypt", given, "-o", self.path("x.ts"), "--key-file",
                        self.path("key"))

    @unittest.skipUnless(OPENH264, "openh264 (libopenh264-dev) was not there when the tests were built")
    def test_both_decoders_see_the_same(self):
        for profile in PARTS:
            _, _, right = self.sealed(profile)
            self.assertEqual(len(right[1].splitlines()), 5)


if __name__ == "__main__":
    main()
