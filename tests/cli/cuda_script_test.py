"""Tests how scripts/build --with-cuda chooses a CUDA compiler: the functions of scripts/lib/cuda.sh with fake commands."""
import os
import shutil
import subprocess
import tempfile
import unittest

SCRIPTS = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "scripts"))
NVCC_VERSION = 'echo "Cuda compilation tools, release {}, V{}.1"'
NVIDIA_SMI = 'echo "| NVIDIA-SMI 550.54  Driver Version: 550.54  CUDA Version: {}  |"'
APT_CANDIDATE = 'echo "  Candidate: {}"'


class CudaScript(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="cu264-cuda-")
        self.bin = os.path.join(self.folder, "bin")
        os.mkdir(self.bin)
        for tool in ("bash", "sed", "head", "dirname", "id", "ln", "nproc"):
            os.symlink(shutil.which(tool), os.path.join(self.bin, tool))

    def tearDown(self):
        shutil.rmtree(self.folder)

    def fake_command(self, path, line):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as script:
            script.write(f"#!{self.bin}/bash\n{line}\n")
        os.chmod(path, 0o755)
        return path

    def run_script(self, line, code=0, **environment):
        """Runs a line after the scripts: installing packages always works, and the repository is this test's folder."""
        script = (f"source {SCRIPTS}/lib/common.sh; source {SCRIPTS}/lib/install.sh; root={self.folder}\n"
                  f"source {SCRIPTS}/lib/cuda.sh; install_packages() {{ echo installed $*; }}\n{line}")
        done = subprocess.run(["bash", "-c", script], env={"PATH": self.bin, "CUDA_HOME": self.folder + "/none", **environment},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_first_new_enough_compiler(self):
        old = self.fake_command("old/nvcc", NVCC_VERSION.format("11.8", "11.8"))
        on_path = self.fake_command("bin/nvcc", NVCC_VERSION.format("12.4", "12.4"))
        named = self.fake_command("named/nvcc", NVCC_VERSION.format("13.0", "13.0"))
        self.assertEqual(self.run_script("find_nvcc", CUDACXX=named).stdout.strip(), named)
        self.assertEqual(self.run_script("find_nvcc", CUDACXX=old).stdout.strip(), on_path)
        os.remove(on_path)
        self.run_script("find_nvcc", code=1, CUDACXX=old)

    def test_no_compiler_of_cuda_13_for_a_driver_of_cuda_12(self):
        self.fake_command("bin/nvidia-smi", NVIDIA_SMI.format("12.4"))
        self.fake_command("bin/apt-cache", APT_CANDIDATE.format("11.8.89~11.8.0-5"))
        done = self.run_script("need_nvcc", code=1)
        self.assertIn("the driver here is for CUDA 12", done.stderr)
        self.assertIn("11.8.89~11.8.0-5, too old", done.stderr)
        self.assertIn("none could be installed", done.stderr)
        self.assertFalse(os.path.exists(self.folder + "/build/cuda"))
        self.fake_command("bin/apt-cache", APT_CANDIDATE.format("12.4.131~12.4.1-2"))
        self.assertIn("installed nvidia-cuda-toolkit", self.run_script("need_nvcc", code=1).stdout)

    def test_package_index_out_of_reach(self):
        self.fake_command("bin/python3", "exit 1")
        self.fake_command("bin/apt-cache", APT_CANDIDATE.format("(none)"))
        done = self.run_script("need_nvcc", code=1)
        self.assertIn("is there a network", done.stderr)
        self.assertIn("no package nvidia-cuda-toolkit", done.stderr)
        self.assertIn("without --with-cuda", done.stderr)

    def test_wheels_are_pinned_by_hash(self):
        with open(os.path.join(SCRIPTS, "lib", "cuda-wheels.txt")) as file:
            text = "".join(line for line in file if not line.startswith("#"))
        for wheel in text.replace("\\\n", " ").splitlines():
            self.assertRegex(wheel, r"^nvidia-[a-z-]+==[0-9.]+( +--hash=sha256:[0-9a-f]{64})+$")
        pip = self.fake_command("fake-pip", f'echo "$@" >{self.folder}/asked; exit 1')
        self.fake_command("bin/python3", f'{shutil.which("mkdir")} -p "$3/bin"; {shutil.which("cp")} {pip} "$3/bin/pip"')
        self.fake_command("bin/apt-cache", APT_CANDIDATE.format("(none)"))
        self.run_script("need_nvcc", code=1)
        with open(os.path.join(self.folder, "asked")) as file:
            asked = file.read().split()
        self.assertIn("--require-hashes", asked)
        self.assertEqual([word for word in asked if "nvidia" in word], [])  # nothing by name alone

    def test_wheels_are_completed(self):
        wheels = "build/cuda/lib/python3.11/site-packages/nvidia/cu13"
        nvcc = self.fake_command(wheels + "/bin/nvcc", NVCC_VERSION.format("13.0", "13.0"))
        runtime = self.fake_command(wheels + "/lib/libcudart.so.13", "")
        self.assertEqual(self.run_script('need_nvcc; echo "$nvcc"').stdout.strip(), nvcc)
        self.assertTrue(os.path.samefile(runtime[: -len(".13")], runtime))


if __name__ == "__main__":
    unittest.main()
