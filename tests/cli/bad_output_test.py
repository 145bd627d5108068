"""Outputs that cannot be written, or are interrupted: the exit status is 4, or 128 and the signal; the file is complete or absent."""
import os
import signal
import subprocess
import time

from support import CU264, QUICK, TIMEOUT, CommandTest, ffmpeg, main, video_stream


class BadOutput(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.input = cls.clip("in.y4m", "mandelbrot=size=320x240:rate=25", 40)

    def test_full_device(self):
        for container in ("h264", "mkv", "ts"):
            with self.subTest(format=container):
                self.refuse(4, "/dev/full.*[Nn]o space", self.input, "--format", container, output="/dev/full")
        for option in ("--recon", "--stats"):
            self.refuse(4, "/dev/full.*[Nn]o space", self.input, option, "/dev/full")

    def test_full_disk(self):
        disk = self.path("disk")
        os.mkdir(disk)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True).returncode:
            self.skipTest("mounting a small file system is not allowed here")
        try:
            for name in ("out.264", "out.mp4", "out.mkv"):
                self.refuse(4, "[Nn]o space", self.input, "--qp", "10", output=os.path.join(disk, name))
                self.assertEqual(os.listdir(disk), [])
        finally:
            subprocess.run(["umount", disk], check=True)

    def test_no_such_folder(self):
        self.refuse(4, "No such file", self.input, output=self.path("nowhere/out.mp4"))
        self.refuse(4, "out.mp4", self.input, output=os.path.join(self.input, "out.mp4"))
        self.refuse(4, "cannot write", self.input, output="/proc/out.mp4")

    def test_unwritable_folder(self):
        if os.geteuid() == 0:
            self.skipTest("root may write everywhere")
        locked = self.path("locked")
        os.mkdir(locked, 0o500)
        self.refuse(4, "Permission denied", self.input, output=os.path.join(locked, "out.mp4"))

    def test_directory(self):
        os.mkdir(self.path("folder.mp4"))
        self.refuse(4, "directory", self.input, output="folder.mp4")

    def test_closed_pipe(self):
        for container in ("h264", "mkv"):
            with self.subTest(format=container):
                command = subprocess.Popen([CU264, "encode", self.input, "--qp", "5", "--format", container, "-o", "-"],
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.addCleanup(command.wait)
                command.stdout.read(100)
                command.stdout.close()
                self.assertIn("Broken pipe", command.stderr.read().decode())
                command.stderr.close()
                self.assertEqual(command.wait(60), 4)

    def test_failure_keeps_the_old_file(self):
        old = self.path("old.mp4")
        with open(old, "wb") as file:
            file.write(b"precious")
        self.refuse(2, "cut off", self.cut_input(), output=old)
        with open(old, "rb") as file:
            self.assertEqual(file.read(), b"precious")

    def cut_input(self):
        with open(self.input, "rb") as whole, open(self.path("cut.y4m"), "wb") as cut:
            cut.write(whole.read()[:-10])
        return self.path("cut.y4m")

    def test_overwriting(self):
        out = self.path("again.mp4")
        for _ in range(2):
            self.encode(self.input, "--frames", "2", "-o", out)
        self.assertEqual(video_stream(out)["nb_read_packets"], "2")

    def start_endless_encode(self, output, *options, hangup=signal.SIG_DFL):
        """Starts an encode of a standard input that never ends."""
        source = subprocess.Popen(["ffmpeg", "-v", "quiet", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25", "-f",
                                   "yuv4mpegpipe", "-"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        command = subprocess.Popen([CU264, "encode", "-", "-o", output, *options], stdin=source.stdout,
                                   stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGHUP, hangup))
        source.stdout.close()
        self.addCleanup(source.wait)
        self.addCleanup(source.kill)
        self.addCleanup(command.stderr.close)
        return command

    def wait_for_pictures(self, name):
        for _ in range(500):
            hidden = [f for f in os.listdir(self.folder) if f.startswith("." + name)]
            if hidden and os.path.getsize(self.path(hidden[0])) > 20000:
                return
            time.sleep(0.02)
        self.fail("nothing was written within ten seconds")

    def test_interrupt_finishes_the_file(self):
        for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=signal_number):
                out = self.path(f"signal{signal_number}.mkv")
                command = self.start_endless_encode(out, "--preset", "fast")
                self.wait_for_pictures(os.path.basename(out))
                command.send_signal(signal_number)
                self.assertEqual(command.wait(60), 128 + signal_number)
                self.assertEqual([f for f in os.listdir(self.folder) if f.startswith(".")], [])
                self.assertGreater(int(video_stream(out)["nb_read_packets"]), 0)
                ffmpeg("-xerror", "-i", out, "-f", "null", "-")

    def test_a_signal_at_any_moment_leaves_no_half_file(self):
        """Also one that comes before the command catches it: nothing is open by then."""
        key, stream, folder = self.path("moments.key"), self.path("moments.264"), self.path("moments")
        self.cu264("protect", "new-key", key)
        self.encode(self.input, "--cavlc", "-o", stream)
        os.mkdir(folder)
        decode = ["ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames"]
        # What writes a file, and what reads the whole of it.
        commands = {"out.mp4": (["encode", self.input], decode), "edges.mkv": (["edges", self.input], decode),
                    "new.key": (["protect", "new-key"], [CU264, "protect", "encrypt", stream, self.path("x.264"), "-y", "--key-file"]),
                    "stream.vle": (["vle", "compress", stream], [CU264, "vle", "expand", "-y", "-o", self.path("x.264")]),
                    "sealed.264": (["protect", "encrypt", stream, "--authenticate", "--key-file", key],
                                   [CU264, "protect", "decrypt", "--key-file", key, "-y", "-o", self.path("x.264")])}
        for name, (write, read) in commands.items():
            began, output = time.monotonic(), os.path.join(folder, name)
            subprocess.run([CU264, *write, output], check=True, capture_output=True, timeout=TIMEOUT)
            needed, seen = time.monotonic() - began, set()
            os.remove(output)
            # Edges have a moment at which the file is open and has no picture yet.
            more = 0 if name != "edges.mkv" else 12 if QUICK else 60
            moments = [(step / 10) ** 2 for step in range(10)] + [step / more for step in range(more)]
            for moment in moments:
                command = subprocess.Popen([CU264, *write, output], stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
                time.sleep(min(needed, 0.5) * moment)
                command.send_signal(signal.SIGTERM)
                status = command.wait(TIMEOUT)
                left = os.listdir(folder)
                seen.add((status, bool(left)))
                with self.subTest(command=write, moment=moment, status=status):
                    self.assertIn(status, (0, -signal.SIGTERM, 128 + signal.SIGTERM))
                    self.assertIn(left, [[]] if status == -signal.SIGTERM else [[name]] if status == 0 else [[], [name]])
                    if left:
                        subprocess.run([*read, output], check=True, capture_output=True, timeout=TIMEOUT)
                        os.remove(output)
            self.assertIn((-signal.SIGTERM, False), seen, "none came before the signal was caught")

    def test_a_hangup_is_ignored_under_nohup(self):
        out = self.path("nohup.mkv")
        command = self.start_endless_encode(out, "--preset", "fast", hangup=signal.SIG_IGN)
        self.wait_for_pictures("nohup.mkv")
        command.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        self.assertIsNone(command.poll(), "it should go on")
        command.send_signal(signal.SIGTERM)
        self.assertEqual(command.wait(60), 143)

    def test_interrupt_while_the_input_stalls(self):
        reader, writer = os.pipe()
        out = self.path("stalled.mp4")
        command = subprocess.Popen([CU264, "encode", "-", "-o", out], stdin=reader, stderr=subprocess.PIPE)
        self.wait_until_it_catches(command, signal.SIGINT)
        command.send_signal(signal.SIGINT)
        self.assertEqual(command.wait(30), 130)
        command.stderr.close()
        os.close(reader), os.close(writer)
        self.assertFalse(os.path.exists(out))

    def test_second_interrupt_removes_the_file(self):
        out = self.path("twice.mkv")
        os.mkfifo(self.path("sink"))
        # Nobody reads the second output, a pipe: the encode cannot finish after the first signal, the second ends it.
        sink = os.open(self.path("sink"), os.O_RDWR)
        command = self.start_endless_encode(out, "--preset", "fast", "--recon", self.path("sink"))
        self.wait_until_it_catches(command, signal.SIGINT)
        time.sleep(1)
        command.send_signal(signal.SIGINT)
        time.sleep(0.3)
        self.assertIsNone(command.poll(), "it should be waiting for the pipe")
        command.send_signal(signal.SIGHUP)
        self.assertEqual(command.wait(30), 130)  # the first signal decides
        os.close(sink)
        self.assertEqual([f for f in os.listdir(self.folder) if "twice" in f], [])


if __name__ == "__main__":
    main()
