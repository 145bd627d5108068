"""The test case of protect, watermark and hide: keys, a stream to work on, and calls that must fail."""
import os
import re
import subprocess

from support import CommandTest, TIMEOUT, ffmpeg

NOISY = "testsrc2=size=176x144:rate=25,noise=alls=20:allf=t"


def decoder_warnings(path):
    return subprocess.run(["ffmpeg", "-v", "warning", "-i", str(path), "-f", "null", "-"], check=True, timeout=TIMEOUT,
                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE).stderr.decode()


def packets_md5(path):
    """The MD5 of the bytes of all video packets, without the container."""
    return ffmpeg("-i", path, "-map", "0:v", "-c", "copy", "-f", "md5", "-", stdout=subprocess.PIPE).stdout


class ProtectCase(CommandTest):
    def setUp(self):
        self.write("key", bytes(range(32)))
        self.write("other", b"7" * 64 + b"\n")
        self.write("payload", b"mine\n")

    def cu264(self, *arguments, **keywords):
        if arguments[0] == "encode" and "--profile" not in arguments:
            arguments = (*arguments, "--profile", "baseline")  # these tools work on CAVLC
        return super().cu264(*arguments, **keywords)

    def write(self, name, data):
        with open(self.path(name), "wb") as out:
            out.write(data)
        os.chmod(self.path(name), 0o600)  # nobody is warned of a key's permissions
        return self.path(name)

    def read(self, name):
        with open(self.path(name), "rb") as data:
            return data.read()

    def stream(self, name="own.264", frames=6, qp=20):
        if not os.path.exists(self.path(name)):
            self.encode(self.clip("source.y4m", NOISY, 12), "-o", self.path(name), "--qp", qp,
                        "--frames", frames)
        return self.path(name)

    def with_key(self, *arguments, **keywords):
        return self.cu264(*arguments, "--key-file", self.path("key"), **keywords)

    def fails_with(self, code, pattern, *arguments, **keywords):
        before = set(os.listdir(self.folder))
        done = self.cu264(*arguments, code=code, **keywords)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertTrue(re.search(pattern, done.stderr), f"'{pattern}' is not in: {done.stderr}")
        self.assertEqual(set(os.listdir(self.folder)), before, "a file was left behind")
