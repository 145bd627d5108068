"""Encryption and watermarks while a video is encoded."""
import os
import subprocess

from protect_case import ProtectCase, decoder_warnings, packets_md5
from support import CU264, TIMEOUT, main


class ProtectedEncode(ProtectCase):
    def test_encrypted_while_encoding(self):
        plain = self.stream()
        source = self.path("source.y4m")
        for parts in (("--encrypt", "signs"), ("--encrypt", "signs,modes,codewords"), ("--strength", "2")):
            self.encode(source, "-o", self.path("encrypted.264"), "--qp", 20, "--frames", 6, *parts, "--key-file",
                        self.path("key"), "--authenticate")
            self.assertNotEqual(self.read("encrypted.264"), self.read("own.264"))
            self.assertEqual(decoder_warnings(self.path("encrypted.264")), "")
            self.with_key("protect", "decrypt", self.path("encrypted.264"), "-o", self.path("decrypted.264"))
            self.assertEqual(self.read("decrypted.264"), self.read(plain), parts)

    def test_strength_while_encoding(self):
        self.stream()
        start = ["encode", self.path("source.y4m"), "-o", self.path("x.264"), "--key-file", self.path("key")]
        self.fails_with(1, "out of its range", *start, "--strength", "4")
        self.fails_with(1, "say the same", *start, "--strength", "1", "--encrypt", "signs")
        self.assertFalse(os.path.exists(self.path("x.264")))

    def test_encrypted_while_encoding_into_a_container(self):
        self.stream()
        source = self.path("source.y4m")
        self.encode(source, "-o", self.path("plain.mp4"), "--qp", 20, "--frames", 6)
        self.encode(source, "-o", self.path("encrypted.mp4"), "--qp", 20, "--frames", 6, "--encrypt", "signs,modes",
                    "--key-file", self.path("key"))
        self.assertNotEqual(packets_md5(self.path("encrypted.mp4")), packets_md5(self.path("plain.mp4")))
        self.with_key("protect", "decrypt", self.path("encrypted.mp4"), "-o", self.path("decrypted.mp4"))
        self.assertEqual(packets_md5(self.path("decrypted.mp4")), packets_md5(self.path("plain.mp4")))

    def test_marked_while_encoding(self):
        self.stream()
        start = ["encode", self.path("source.y4m"), "--qp", 20, "--frames", 6, "--payload", self.path("payload"),
                 "--key-file", self.path("key")]
        for scheme in ("t1-sign", "t1-parity"):
            for name in ("marked.264", "marked.mp4", "marked.ts"):
                with self.subTest(scheme=scheme, name=name):
                    self.cu264(*start, "-o", self.path(name), "--watermark", scheme, "--density", 20000, "--verify")
                    self.assertEqual(decoder_warnings(self.path(name)), "")
                    self.with_key("watermark", "extract", self.path(name), "-o", self.path("found"))
                    self.assertEqual(self.read("found"), b"mine\n")
        self.fails_with(2, "key", "watermark", "extract", self.path("marked.264"), "-o", self.path("x"), "--key-file",
                        self.path("other"))
        self.cu264(*start, "-o", self.path("both.264"), "--watermark", "t1-sign", "--encrypt", "signs")
        self.with_key("protect", "decrypt", self.path("both.264"), "-o", self.path("decrypted.264"))
        self.with_key("watermark", "extract", self.path("decrypted.264"), "-o", self.path("found"))
        self.assertEqual(self.read("found"), b"mine\n")

    def test_bad_watermark_of_an_encode(self):
        self.stream()
        start = ["encode", self.path("source.y4m"), "-o", self.path("out.264")]
        key, payload = ["--key-file", self.path("key")], ["--payload", self.path("payload")]
        mark = ["--watermark", "t1-sign"]
        self.write("empty", b"")
        self.write("large", bytes(100000))
        self.fails_with(1, "there is no 't1-sing'", *start, "--watermark", "t1-sing", *payload, *key)
        self.fails_with(1, "did you mean --watermark", *start, "--watermarc", "t1-sign", *payload, *key)
        self.fails_with(1, "no payload", *start, *mark, *key)
        self.fails_with(1, "without --watermark", *start, *payload)
        self.fails_with(1, "without --watermark", *start, "--density", "3")
        self.fails_with(1, "without --watermark", *start, "--watermark-spread", "drawn")
        for density in ("0", "65537", "1e3", "-1", ""):
            self.fails_with(1, "density", *start, *mark, *payload, *key, f"--density={density}")
        self.fails_with(1, "CU264_KEY", *start, *mark, *payload)
        self.fails_with(2, "nosuch", *start, *mark, "--payload", self.path("nosuch"), *key)
        self.fails_with(2, "empty", *start, *mark, "--payload", self.path("empty"), *key)
        self.fails_with(2, "100000 bytes is too large: this video can hold [0-9]+", *start, *mark, "--payload",
                        self.path("large"), *key)
        self.fails_with(1, "same file", "encode", self.path("source.y4m"), "-o", self.path("payload"), "--format", "h264",
                        *mark, *payload, *key)

    def test_a_mark_that_does_not_fit_is_always_told(self):
        # Whether the last packet is taken before the encoder is flushed depends on time. CU264_TEST_RUNS=800 is thorough.
        clip = self.clip("square.y4m", "testsrc2=size=64x64:rate=25", 3)
        self.write("large", bytes(64))
        runs = int(os.environ.get("CU264_TEST_RUNS", "30"))
        command = [CU264, "encode", clip, "--key-file", self.path("key"), "--watermark", "t1-sign", "--payload",
                   self.path("large"), "--qp", "40", "--threads", "2"]
        for first in range(0, runs, 2):
            pair = [subprocess.Popen([*command, "-o", self.path(f"marked{first + i}.264")], stdin=subprocess.DEVNULL,
                                     stderr=subprocess.PIPE) for i in range(2)]
            for process in pair:
                _, errors = process.communicate(timeout=TIMEOUT)
                self.assertEqual(process.returncode, 2, errors)
                self.assertIn(b"this video can hold", errors)
        self.assertEqual([name for name in os.listdir(self.folder) if "marked" in name], [])

    def test_spreads_of_an_encode(self):
        self.stream()
        start = ["encode", self.path("source.y4m"), "--qp", 20, "--frames", 6, "--key-file", self.path("key"), "--payload",
                 self.path("payload"), "--watermark", "t1-sign"]
        for spread in ("coded", "drawn"):
            name = self.path(f"{spread}.264")
            self.cu264(*start, "--watermark-spread", spread, "--density", 20000, "-o", name)
            self.with_key("watermark", "extract", name, "-o", self.path("found"))
            self.assertEqual(self.read("found"), b"mine\n")
        self.fails_with(1, "coded or drawn", *start, "--watermark-spread", "even", "-o", self.path("x.264"))

    def test_bad_encryption_of_an_encode(self):
        self.stream()
        start = ["encode", self.path("source.y4m"), "-o", self.path("out.264")]
        key = ["--key-file", self.path("key")]
        self.fails_with(1, "there is no 'sign'", *start, "--encrypt", "sign", *key)
        self.fails_with(1, "without --encrypt", *start, *key)
        self.fails_with(1, "without --encrypt", *start, "--authenticate")
        self.fails_with(1, "--verify cannot compare", *start, "--encrypt", "signs", "--verify", *key)
        self.fails_with(1, "CU264_KEY", *start, "--encrypt", "signs")
        self.fails_with(2, "nosuch", *start, "--encrypt", "signs", "--key-file", self.path("nosuch"))


if __name__ == "__main__":
    main()
