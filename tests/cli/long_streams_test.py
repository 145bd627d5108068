"""Streams through pipes: whole, unchanged by the way back, and in memory that does not grow with their length."""
import os
import subprocess
import threading

from support import CU264, CommandTest, TIMEOUT, main

MILLION = 1000000


class LongStreams(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # The address sanitizer, where it is built in, must not keep freed memory: it would look like growth.
        cls.environment = dict(os.environ, CU264_KEY="0a" * 32,
                               ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1")
        subprocess.run([CU264, "encode", cls.clip("noise.y4m", "testsrc2=size=640x360,noise=alls=60:allf=t", 8), "-o",
                        cls.path("short.264"), "--qp", "14", "--preset", "fast", "--cavlc", "--quiet"], check=True, timeout=TIMEOUT)
        with open(cls.path("short.264"), "rb") as file:
            cls.short = file.read()

    def through(self, verb, stream, times, take):
        """Protect VERB between two pipes, of the stream so many times; `take` gets what comes out, piece by piece.
        Returns the largest resident set. It counts from the fork on, so this process must stay small itself."""
        process = subprocess.Popen([CU264, "protect", verb, "-", "-o", "-", "--threads", "2"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, env=self.environment)

        def feed():
            with process.stdin:
                for _ in range(times):
                    process.stdin.write(stream)

        feeder = threading.Thread(target=feed, daemon=True)
        feeder.start()
        while piece := process.stdout.read(1 << 16):
            take(piece)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        process.stdout.close()
        self.assertEqual(status, 0)
        feeder.join()
        return 1024 * usage.ru_maxrss

    def test_pipes_give_the_stream_back(self):
        stream, sealed, opened = self.short * (20 * MILLION // len(self.short)), bytearray(), bytearray()
        self.through("encrypt", stream, 1, sealed.extend)
        self.assertNotEqual(sealed, stream)
        self.through("decrypt", bytes(sealed), 1, opened.extend)
        self.assertTrue(opened == stream, "decrypting does not give the stream back")

    def test_memory_does_not_grow(self):
        sizes = [40 * MILLION, 160 * MILLION]
        peaks = [self.through("encrypt", self.short, size // len(self.short), len) for size in sizes]
        self.assertLess(peaks[1] - peaks[0], 30 * MILLION, f"peaks of {peaks} bytes")

    def test_pipe_that_is_a_container(self):
        with open(self.path("named.264"), "wb") as file:
            file.write(self.short)
        for kind in ("mkv", "ts"):
            film = self.path("film." + kind)
            subprocess.run(["ffmpeg", "-v", "error", "-y", "-r", "25", "-i", self.path("named.264"), "-c", "copy", film],
                           check=True, timeout=TIMEOUT, stdin=subprocess.DEVNULL)
            with open(film, "rb") as pipe:
                process = subprocess.Popen(["cat"], stdin=pipe, stdout=subprocess.PIPE)
                self.cu264("protect", "encrypt", "-", "-o", self.path("sealed." + kind), stdin=process.stdout,
                           env=self.environment)
                process.stdout.close()
                process.wait()
            self.cu264("protect", "decrypt", self.path("sealed." + kind), "-o", self.path("opened.264"),
                       env=self.environment)


if __name__ == "__main__":
    main()
