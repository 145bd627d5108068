"""scripts/check-layout finds what it is there to find, in small trees made for it, and nothing else."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/check-layout"
TABLE = """# Architecture

| folder | what | includes |
|---|---|---|
| `include/` | public headers | |
| `core/` | arithmetic | `include/frame.h` |
| `entropy/` | coding | `core/`, `include/` |
| `*/published/` | published forms | `core/`, `entropy/` |
| `encoder/` | the session | `core/`, `encoder/cpu/` |
| `encoder/cpu/` | a backend | `core/`, `encoder/` |
| `encoder/cuda/` | a backend | `core/`, `encoder/` |
| `tests/` | tests | `core/`, `encoder/`, `encoder/cuda/`, `*/published/` |
"""
GOOD = {
    "include/frame.h": "", "include/encoder.h": "", "core/bits.h": '#include "frame.h"\n', "entropy/coder.h": '#include "core/bits.h"\n',
    "entropy/pack/writer.cu": '#include "entropy/coder.h"\n#include "encoder.h"\n',
    "entropy/published/su.cu": '#include "entropy/coder.h"\n#include <vector>\n',
    "encoder/session.h": '#include "encoder/cpu/search.h"\n', "encoder/cpu/search.h": '#include "core/bits.h"\n',
    "encoder/cuda/kernel.cu": '#include "encoder/session.h"\n',
    "tests/all_test.cpp": '#include "encoder/cuda/kernel.cu"\n#include "entropy/published/su.cu"\n#include "gone.h"\n',
}


class CheckLayout(unittest.TestCase):
    def check(self, changes=None):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, text in {"docs/architecture.md": TABLE, **GOOD, **(changes or {})}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            run = subprocess.run([sys.executable, "-B", str(SCRIPT), folder], capture_output=True, text=True)
            return run.returncode, run.stdout + run.stderr

    def refused(self, path, text, *words):
        status, output = self.check({path: text})
        self.assertEqual(status, 1, output)
        for word in (path, *words):
            self.assertIn(word, output)
        self.assertEqual(len(output.splitlines()), 1, output)

    def test_what_the_table_allows(self):
        self.assertEqual(self.check()[0], 0, self.check()[1])

    def test_upwards(self):
        self.refused("core/block.h", '\n#include "entropy/coder.h"\n', "core/block.h:2:", "only core/, include/frame.h")

    def test_a_public_header_that_is_not_listed(self):
        self.refused("core/block.h", '#include "encoder.h"\n', "core/block.h:1:")

    def test_between_backends(self):
        self.refused("encoder/cuda/batch.h", '  #  include "encoder/cpu/search.h"\n', "batch.h:1:", "encoder/cuda/ may include")

    def test_a_room_apart(self):
        self.refused("entropy/table.h", '#include "entropy/published/su.cu"\n', "table.h:1:")

    def test_beside_the_including_file(self):
        self.refused("entropy/table.h", '#include "published/su.cu"\n', "table.h:1:")

    def test_a_folder_without_a_row(self):
        self.refused("misc/any.h", "", "no row")

    def test_the_same_name_twice(self):
        self.refused("entropy/bits.h", "", "core/bits.h has the same name")

    def test_attributes_of_kernels(self):
        call = "void launch() { cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 16); }\n"
        self.refused("encoder/cuda/launch.cu", "\n" + call, "launch.cu:2:", "kernel_shared_memory.h")
        self.refused("encoder/cuda/set.cu", "check(cudaFuncSetCacheConfig (kernel, wish));\n", "cudaFuncSetCacheConfig")
        self.refused("encoder/cuda/table.cu", "cudaMemcpyToSymbolAsync(table, from, 4);\n", "cudaMemcpyToSymbolAsync")

    def test_the_current_device(self):
        self.refused("encoder/cuda/any.cpp", "cudaSetDevice(1);\n", "any.cpp:1:", "DeviceGuard")

    def test_where_shared_state_is_kept(self):
        rules = TABLE + "| `common/` | owners | |\n"
        status, output = self.check({"docs/architecture.md": rules,
                                     "common/cuda/kernel_shared_memory.cpp": "cudaFuncSetAttribute(kernel, attribute, 1);\n",
                                     "common/cuda/handles.cpp": "find(set);  // not cudaSetDevice(1)\n"})
        self.assertEqual(status, 0, output)

    def test_no_table(self):
        status, output = self.check({"docs/architecture.md": "# Architecture\n"})
        self.assertNotEqual(status, 0)
        self.assertIn("no table", output)


if __name__ == "__main__":
    unittest.main()
