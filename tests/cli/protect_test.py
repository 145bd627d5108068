"""protect, watermark and hide on finished streams of this encoder and of x264, bare and in containers."""
import json
import math
import os
import re
import shutil
import subprocess
import unittest

from made_containers import matroska
from protect_case import NOISY, ProtectCase, decoder_warnings, packets_md5
from support import CU264, QUICK, TIMEOUT, ffmpeg, ffprobe, main

X264 = shutil.which("x264")


def slice_sizes(stream):
    """The sizes of the slices' NAL units without the bytes of emulation prevention."""
    units = re.split(rb"\x00*\x00\x00\x01", stream)[1:]
    return [len(unit.replace(b"\0\0\3", b"\0\0")) for unit in units if unit[0] & 31 in (1, 5)]


def psnr(path, reference):
    """The PSNR of all planes of all pictures in dB."""
    done = subprocess.run(["ffmpeg", "-i", path, "-i", reference, "-lavfi", "psnr", "-f", "null", "-"], check=True,
                          timeout=TIMEOUT, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return float(re.search(rb"PSNR.* average:([0-9.]+|inf)", done.stderr).group(1))


def share_of_pcm(figures):
    """The share of I_PCM macroblocks in a stream, by the file of --stats."""
    with open(figures) as file:
        pictures = json.load(file)["pictures"]
    return sum(picture["pcm_mbs"] for picture in pictures) / (len(pictures) * 99)  # of 176x144 samples


class Protect(ProtectCase):
    def round_trip(self, stream):
        for strength in (3,) if QUICK else (1, 2, 3):
            with self.subTest(stream=stream, strength=strength):
                encrypted, decrypted = self.path("encrypted.264"), self.path("decrypted.264")
                self.with_key("protect", "encrypt", stream, "-o", encrypted, "--strength", strength)
                self.assertEqual(decoder_warnings(encrypted), "")
                self.with_key("protect", "decrypt", encrypted, "-o", decrypted)
                self.assertEqual(self.read("decrypted.264"), self.read(stream))
        for scheme in ("t1-sign", "t1-parity"):
            with self.subTest(stream=stream, scheme=scheme):
                marked = self.path("marked.264")
                self.with_key("watermark", "embed", stream, "-o", marked, "--scheme", scheme, "--payload",
                              self.path("payload"))
                self.assertEqual(decoder_warnings(marked), "")
                self.with_key("watermark", "extract", marked, "-o", self.path("found"))
                self.assertEqual(self.read("found"), b"mine\n")

    def test_own_stream(self):
        self.round_trip(self.stream())

    @unittest.skipUnless(X264, "needs the x264 command")
    def test_streams_of_x264(self):
        source = self.clip("source.y4m", NOISY, 12)
        for name, options in (("base", ["--profile", "baseline"]),
                              ("high", ["--profile", "high", "--8x8dct", "--cqm", "jvt"]),
                              ("slices", ["--8x8dct", "--slice-max-size", "1500"]),
                              ("fine", ["--qp", "3"])):
            path = self.path(f"x264-{name}.264")
            subprocess.run([X264, "--quiet", "--no-cabac", "--keyint", "1", *options, "-o", path, source], check=True,
                           timeout=TIMEOUT, stderr=subprocess.DEVNULL)
            self.round_trip(path)

    def cabac_round_trip(self, stream, in_the_open=0):
        """Signs and suffixes of a CABAC stream: no slice changes its size, the pictures are far off, and all comes back.

        `in_the_open`: the share of I_PCM macroblocks, which are not encrypted (docs/protection.md). The PSNR is that of the others,
        on the assumption that I_PCM has no error at all."""
        for parts, *options in (("signs",), ("signs,suffixes", "--authenticate", "--threads", 2)):
            with self.subTest(stream=stream, parts=parts, options=options):
                encrypted, decrypted = self.path("encrypted.264"), self.path("decrypted.264")
                self.with_key("protect", "encrypt", stream, "-o", encrypted, "-y", "--parts", parts, *options)
                self.assertEqual(decoder_warnings(encrypted), "")
                self.with_key("protect", "decrypt", encrypted, "-o", decrypted, "-y")
                self.assertEqual(self.read("decrypted.264"), self.read(stream))
                self.assertEqual(slice_sizes(self.read("encrypted.264")), slice_sizes(self.read(stream)))
                self.assertLess(psnr(encrypted, stream) + 10 * math.log10(1 - in_the_open), 18)

    def test_signs_of_cabac(self):
        for name, qp, options in (("main", 26, ["--profile", "main", "--slices", 3]), ("high", 34, ["--profile", "high"]),
                                  ("fine", 8, ["--profile", "high"]), ("middling", 10, ["--profile", "high"]),
                                  ("best", 26, ["--profile", "high", "--preset", "best"])):
            stream, figures = self.path(f"{name}.264"), self.path(f"{name}.json")
            self.encode(self.clip("source.y4m", NOISY, 12), "-o", stream, "--qp", qp, "--frames", 4, "--stats", figures, *options)
            # Only at QP 8, on noise, is I_PCM so frequent that it hides what has become of the others.
            self.cabac_round_trip(stream, share_of_pcm(figures) if name == "fine" else 0)

    @unittest.skipUnless(X264, "needs the x264 command")
    def test_signs_of_cabac_of_x264(self):
        source = self.clip("source.y4m", NOISY, 12)
        for name, options in (("main", ["--profile", "main"]), ("high", ["--8x8dct", "--cqm", "jvt"]),
                              ("slices", ["--8x8dct", "--slice-max-size", "1500"]), ("fine", ["--qp", "1"]),
                              ("lossless", ["--qp", "0"]), ("gray", ["--output-csp", "i400"])):
            path = self.path(f"x264-{name}.264")
            subprocess.run([X264, "--quiet", "--keyint", "1", "--frames", "4", *options, "-o", path, source], check=True,
                           timeout=TIMEOUT, stderr=subprocess.DEVNULL)
            self.cabac_round_trip(path)

    def test_suffixes_need_cabac_and_a_finished_stream(self):
        self.fails_with(2, "CAVLC.*suffixes need CABAC", "protect", "encrypt", self.stream(), "-o", self.path("x.264"),
                        "--key-file", self.path("key"), "--parts", "signs,suffixes")
        for options in ((), ("--authenticate",)):
            self.fails_with(1, "suffixes.*finished", "encode", self.clip("source.y4m", NOISY, 12), "-o", self.path("x.264"),
                            "--encrypt", "signs,suffixes", "--key-file", self.path("key"), *options)

    def test_only_signs_and_suffixes_of_cabac(self):
        self.encode(self.clip("source.y4m", NOISY, 12), "-o", self.path("high.264"), "--profile", "high", "--frames", 2)
        for options in (("--strength", 2), ("--parts", "signs,codewords"), ("--parts", "modes", "--authenticate")):
            self.fails_with(2, "CABAC.*modes and codewords need CAVLC", "protect", "encrypt", self.path("high.264"), "-o",
                            self.path("x.264"), "--key-file", self.path("key"), *options)

    @unittest.skipUnless(X264, "needs the x264 command")
    def test_refusals_name_what_was_found(self):
        source = self.clip("source.y4m", NOISY, 12)
        for options, what in ((["--no-cabac"], "inter pictures"), ([], "inter pictures"),
                              (["--keyint", "1", "--tff"], "interlaced"),
                              (["--keyint", "1", "--output-csp", "i422"], "4:2:2"),
                              (["--no-cabac", "--keyint", "1", "--tff"], "interlaced"),
                              (["--no-cabac", "--keyint", "1", "--output-csp", "i444"], "4:4:4")):
            with self.subTest(what=what):
                path = self.path("foreign.264")
                subprocess.run([X264, "--quiet", *options, "-o", path, source], check=True, timeout=TIMEOUT,
                               stderr=subprocess.DEVNULL)
                self.fails_with(2, what, "protect", "encrypt", path, "-o", self.path("x.264"), "--key-file",
                                self.path("key"))

    def test_containers(self):
        ffmpeg("-f", "lavfi", "-i", "sine=duration=0.3", "-i", self.stream(), "-map", "1:v", "-map", "0:a", "-c:v", "copy",
               "-c:a", "aac", self.path("film.mp4"))
        for kind in ("mp4", "mov", "mkv", "ts"):
            with self.subTest(kind=kind):
                film, encrypted, decrypted = (self.path(f"{name}.{kind}") for name in ("film", "encrypted", "decrypted"))
                if kind != "mp4":
                    ffmpeg("-i", self.path("film.mp4"), "-map", "0", "-c", "copy", film)
                self.with_key("protect", "encrypt", film, "-o", encrypted, "--strength", 3)
                self.assertEqual(decoder_warnings(encrypted), "")
                self.assertNotEqual(packets_md5(encrypted), packets_md5(film))
                self.with_key("protect", "decrypt", encrypted, "-o", decrypted)
                self.assertEqual(packets_md5(decrypted), packets_md5(film))
                kinds = sorted(stream["codec_type"] for stream in ffprobe(decrypted, "-show_streams")["streams"])
                self.assertEqual(kinds, ["audio", "video"])
                self.with_key("watermark", "embed", film, "-o", self.path(f"m.{kind}"), "--scheme", "t1-sign", "--payload",
                              self.path("payload"))
                self.with_key("watermark", "extract", self.path(f"m.{kind}"), "-o", self.path("found"))
                self.assertEqual(self.read("found"), b"mine\n")
        self.fails_with(1, "bare", "protect", "encrypt", self.stream(), "-o", self.path("y.mp4"), "--key-file",
                        self.path("key"))

    def test_hidden_data(self):
        stream = self.stream("fine.264", qp=6)
        self.with_key("protect", "encrypt", stream, "-o", self.path("encrypted.264"), "--strength", 3)
        self.with_key("hide", "put", self.path("encrypted.264"), "-o", self.path("full.264"), "--payload",
                      self.path("payload"))
        self.assertEqual(decoder_warnings(self.path("full.264")), "")
        self.with_key("hide", "get", self.path("full.264"), "-o", self.path("found"))
        self.assertEqual(self.read("found"), b"mine\n")
        self.with_key("protect", "decrypt", self.path("full.264"), "-o", self.path("decrypted.264"))
        self.with_key("hide", "get", self.path("decrypted.264"), "-o", self.path("found2"))
        self.assertEqual(self.read("found2"), b"mine\n")

    def test_key_in_the_environment(self):
        environment = dict(os.environ, CU264_KEY="0a" * 32)
        self.cu264("protect", "encrypt", self.stream(), "-o", self.path("encrypted.264"), env=environment)
        self.cu264("protect", "decrypt", self.path("encrypted.264"), "-o", self.path("decrypted.264"), env=environment)
        self.assertEqual(self.read("decrypted.264"), self.read(self.stream()))
        environment["CU264_KEY"] = "0a"
        self.fails_with(1, "CU264_KEY is no key", "protect", "encrypt", self.stream(), "-o", self.path("x.264"),
                        env=environment)
        del environment["CU264_KEY"]
        self.fails_with(1, "no key", "protect", "encrypt", self.stream(), "-o", self.path("x.264"), env=environment)

    def test_bad_input(self):
        stream, out, key = self.stream(), self.path("x.264"), ("--key-file", self.path("key"))
        encrypted = self.path("encrypted2.264")
        self.with_key("protect", "encrypt", stream, "-o", encrypted)
        self.fails_with(2, "key is not the one", "protect", "decrypt", encrypted, "-o", out, "--key-file",
                        self.path("other"))
        self.fails_with(2, "not encrypted", "protect", "decrypt", stream, "-o", out, *key)
        self.fails_with(2, "encrypted already", "protect", "encrypt", encrypted, "-o", out, *key)
        self.fails_with(1, "length is wrong", "protect", "encrypt", stream, "-o", out, "--key-file",
                        self.write("short", b"x" * 31))
        self.fails_with(2, "cannot be read", "protect", "encrypt", stream, "-o", out, "--key-file", self.path("nokey"))
        self.fails_with(1, "same file as .*, the input", "protect", "encrypt", stream, "-o", stream, *key)
        self.fails_with(1, "output and the key-file", "protect", "encrypt", stream, "-o", self.path("key"), *key)
        self.fails_with(1, "no 'everything'", "protect", "encrypt", stream, "-o", out, "--parts", "everything", *key)
        self.fails_with(1, "out of its range", "protect", "encrypt", stream, "-o", out, "--strength", "4", *key)
        self.fails_with(1, "protect does no 'hide'", "protect", "hide")
        self.fails_with(1, "half a key", "protect", "encrypt", stream, "-o", out, "--key-file",
                        self.write("half", b"7" * 32))
        self.fails_with(1, "no output is named", "protect", "encrypt", stream, *key)
        self.fails_with(2, "No such file", "protect", "encrypt", self.path("nowhere.mp4"), "-o", out, *key)
        self.fails_with(2, "text", "protect", "encrypt", self.write("text.264", b"no video\n" * 99), "-o", out, *key)
        whole = self.read(stream)
        cut = self.write("cut.264", whole[:len(whole) - len(whole) // 9])
        self.fails_with(2, "cut off|damaged", "protect", "encrypt", cut, "-o", out, *key)

    def test_bad_payloads(self):
        stream, out, key = self.stream(), self.path("x.264"), ("--key-file", self.path("key"))
        empty, large = self.write("none", b""), self.write("large", bytes(300000))
        self.fails_with(2, "empty", "watermark", "embed", stream, "-o", out, "--scheme", "t1-sign", "--payload", empty, *key)
        self.fails_with(2, "can hold [0-9]+", "watermark", "embed", stream, "-o", out, "--scheme", "t1-parity", "--payload",
                        large, *key)
        self.fails_with(2, "can hold [0-9]+", "hide", "put", stream, "-o", out, "--payload", large, *key)
        self.fails_with(2, "empty", "hide", "put", stream, "-o", out, "--payload", empty, *key)
        self.fails_with(2, "no watermark", "watermark", "extract", stream, "-o", out, *key)
        self.fails_with(2, "hides no data", "hide", "get", stream, "-o", out, *key)
        self.fails_with(1, "no payload", "hide", "put", stream, "-o", out, *key)
        self.fails_with(1, "--scheme", "watermark", "embed", stream, "-o", out, "--scheme", "t2", "--payload",
                        self.path("payload"), *key)

    def test_payload_that_is_no_file(self):
        self.fails_with(2, "directory", "hide", "put", self.stream(), "-o", self.path("x.264"), "--payload", self.folder,
                        "--key-file", self.path("key"))

    def test_new_keys(self):
        self.cu264("protect", "new-key", self.path("new"))
        self.assertEqual(os.stat(self.path("new")).st_mode & 0o7777, 0o600)
        key = self.read("new")
        self.assertRegex(key, rb"^[0-9a-f]{64}\n$")
        self.fails_with(4, "already", "protect", "new-key", self.path("new"))
        self.assertEqual(self.read("new"), key)
        os.symlink(self.path("nowhere"), self.path("link"))
        self.fails_with(4, "already", "protect", "new-key", self.path("link"))
        self.fails_with(1, "one file", "protect", "new-key")
        self.fails_with(1, "one file", "protect", "new-key", self.path("a"), self.path("b"))
        self.fails_with(4, "cannot be made", "protect", "new-key", self.path("none/key"))
        stream, sealed = self.stream(), self.path("sealed.264")
        done = self.cu264("protect", "encrypt", stream, "-o", sealed, "--key-file", self.path("new"))
        self.assertEqual(done.stderr, "")
        for mode in (0o640, 0o604):
            os.chmod(self.path("new"), mode)
            done = self.cu264("protect", "decrypt", sealed, "-o", self.path("opened.264"), "--key-file", self.path("new"))
            self.assertIn("warning: " + self.path("new"), done.stderr)
            self.assertEqual(self.read("opened.264"), self.read(stream))

    def test_authentication(self):
        stream, key = self.stream(), ("--key-file", self.path("key"))
        ffmpeg("-i", stream, "-c", "copy", self.path("film.mp4"))
        for kind in ("264", "mp4", "mkv", "ts"):
            with self.subTest(kind=kind):
                film, sealed, opened = (self.path(f"{name}.{kind}") for name in ("film", "sealed", "opened"))
                if kind != "mp4":
                    ffmpeg("-i", self.path("film.mp4"), "-c", "copy", film)
                self.with_key("protect", "encrypt", film, "-o", sealed, "--authenticate", "--strength", 3)
                self.assertEqual(decoder_warnings(sealed), "")
                self.with_key("protect", "decrypt", sealed, "-o", opened, "--require-authentication")
                self.assertEqual(packets_md5(opened), packets_md5(film))
        # A stream that went through another muxer and back opens: what is covered stays as it is.
        ffmpeg("-i", self.path("sealed.mkv"), "-c", "copy", self.path("other.mp4"))
        self.with_key("protect", "decrypt", self.path("other.mp4"), "-o", self.path("opened2.mp4"), "--require-authentication")
        out = self.path("x.264")
        sealed = self.read("sealed.264")
        self.fails_with(2, "fails its authentication", "protect", "decrypt",
                  self.write("changed.264", sealed[:-2000] + bytes([sealed[-2000] ^ 1]) + sealed[-1999:]), "-o", out, *key)
        self.fails_with(2, "cut off", "protect", "decrypt", self.write("cut.264", sealed[:sealed.rindex(b"\0\0\0\1")]), "-o", out, *key)
        self.with_key("protect", "encrypt", stream, "-o", self.path("open.264"))
        self.fails_with(2, "not authenticated", "protect", "decrypt", self.path("open.264"), "-o", out,
                  "--require-authentication", *key)
        self.fails_with(2, "not encrypted", "protect", "decrypt", stream, "-o", out, "--require-authentication", *key)
        self.fails_with(1, "require-authentication", "protect", "encrypt", stream, "-o", out, "--require-authentication", *key)

    def slices_in_packets(self, name):
        """A Matroska file with one slice in each packet, and a large filler unit before the first one of each picture."""
        self.encode(self.clip("small.y4m", "testsrc2=size=64x48:rate=25", 4), "-o", self.path("sliced.264"), "--quiet",
                    "--slices", 3)
        units = re.split(rb"\x00?\x00\x00\x01", self.read("sliced.264"))[1:]
        sets = [unit for unit in units if unit[0] & 31 in (7, 8)]
        slices = [unit for unit in units if unit[0] & 31 == 5]
        filler = b"\x0c" + b"\xff" * 4096 + b"\x80"

        packets = [[filler, unit] if i % 3 == 0 else [unit] for i, unit in enumerate(slices)]
        times = [40 * (i // 3) + i % 3 for i in range(len(slices))]
        return self.write(name, matroska(packets, sets, 64, 48, times))

    def test_slices_in_packets_of_their_own(self):
        film, sealed, opened = self.slices_in_packets("split.mkv"), self.path("sealed.mkv"), self.path("opened.mkv")
        for kind in ("mkv", "mp4"):
            sealed, opened = self.path(f"sealed.{kind}"), self.path(f"opened.{kind}")
            self.with_key("protect", "encrypt", film, "-o", sealed, "--authenticate")
            self.assertEqual(len(ffprobe(sealed, "-show_packets")["packets"]), 4, "a packet is an access unit")
            self.with_key("protect", "decrypt", sealed, "-o", opened, "--require-authentication")
            self.assertEqual(decoder_warnings(opened), "")
        self.assertEqual(sorted(name for name in os.listdir(self.folder) if name.startswith(".")), [])

    def test_keys_of_every_wrong_size(self):
        stream, out = self.stream(), self.path("x.264")
        for size in (0, 31, 33, 63, 65, 66, 4096):
            self.fails_with(1, "length is wrong", "protect", "encrypt", stream, "-o", out, "--key-file",
                            self.write("odd", b"0" * size))
        self.fails_with(1, "digits", "protect", "encrypt", stream, "-o", out, "--key-file", self.write("odd", b"g" * 64))
        for value, what in (("0" * 65, "length"), ("0x" + "0" * 62, "digits"), ("", "no key")):
            self.fails_with(1, what, "protect", "encrypt", stream, "-o", out, env=dict(os.environ, CU264_KEY=value))

    def test_streams_cut_off(self):
        self.cu264("encode", self.clip("small.y4m", "testsrc2=size=64x48:rate=25", 2), "-o", self.path("small.264"),
                   "--quiet", "--qp", 45, "--headers", "first")
        self.with_key("protect", "encrypt", self.path("small.264"), "-o", self.path("small-encrypted.264"), "--authenticate")
        for name, verb in (("small.264", "encrypt"), ("small-encrypted.264", "decrypt")):
            whole = self.read(name)
            for size in range(0, len(whole) - 1, max(1, len(whole) // (13 if QUICK else 40))):
                cut = self.write("cut.264", whole[:size])
                done = subprocess.run([CU264, "protect", verb, cut, "-o", self.path("x.264"), "-y", "--key-file",
                                       self.path("key")], stderr=subprocess.PIPE, timeout=TIMEOUT)
                self.assertIn(done.returncode, (0, 2), (name, size))
                if done.returncode == 2:
                    self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                    self.assertFalse(os.path.exists(self.path("x.264")), (name, size))
                else:  # only a whole number of pictures is a stream
                    os.remove(self.path("x.264"))
                    self.assertGreater(size, len(whole) // 3)

    def test_full_disk(self):
        stream, key = self.stream(), ("--key-file", self.path("key"))
        with open("/dev/full", "wb") as full:
            done = subprocess.run([CU264, "protect", "encrypt", stream, "-o", "-", *key], stdout=full,
                                  stderr=subprocess.PIPE, timeout=TIMEOUT)
        self.assertEqual(done.returncode, 4)
        self.assertIn(b"space", done.stderr)
        self.with_key("watermark", "embed", stream, "-o", self.path("m.264"), "--payload", self.path("payload"))
        self.fails_with(4, "space", "watermark", "extract", self.path("m.264"), "-o", "/dev/full", *key)

    def test_threads_change_nothing(self):
        stream, found = self.stream(), []
        self.with_key("protect", "encrypt", stream, "-o", self.path("encrypted.264"), "--strength", 3)
        for threads in (1, 2, 5):
            self.with_key("protect", "decrypt", self.path("encrypted.264"), "-o", self.path("decrypted.264"), "--threads",
                          threads)
            found.append(self.read("decrypted.264"))
        self.assertEqual(found, [self.read(stream)] * 3)
        self.fails_with(1, "--threads", "protect", "encrypt", stream, "-o", self.path("x.264"), "--threads", "0",
                        "--key-file", self.path("key"))

    def test_capacity(self):
        stream = self.stream()
        lines = self.cu264("watermark", "capacity", stream, "--density", 65536).stdout.decode().splitlines()
        self.assertEqual(len(lines), 4)
        room = {line[:18].strip(): [int(number) for number in line.split()[-2:]] for line in lines[1:]}
        for column, scheme in enumerate(("t1-sign", "t1-parity")):
            self.write("exact", bytes(room["watermark embed"][column]))
            self.write("over", bytes(room["watermark embed"][column] + 1))
            embed = ["watermark", "embed", stream, "--scheme", scheme, "--payload"]
            self.with_key(*embed, self.path("exact"), "-o", self.path("exact.264"))
            self.fails_with(2, "too large", *embed, self.path("over"), "-o", self.path("over.264"), "--key-file",
                            self.path("key"))
            self.assertGreater(room["encode, coded"][column], 4 * room["encode, drawn"][column])
            self.write("much", os.urandom(room["encode, coded"][column] * 9 // 10))
            self.encode(self.path("source.y4m"), "-o", self.path("much.264"), "--qp", 20, "--frames", 6, "--watermark", scheme,
                        "--payload", self.path("much"), "--density", 65536, "--key-file", self.path("key"))
            self.with_key("watermark", "extract", self.path("much.264"), "-o", self.path("found"))
            self.assertEqual(self.read("found"), self.read("much"))
        self.fails_with(2, "no H.264 picture|not", "watermark", "capacity", self.path("payload"))
        self.fails_with(1, "input", "watermark", "capacity")


if __name__ == "__main__":
    main()
