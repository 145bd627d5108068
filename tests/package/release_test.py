"""The version is the same everywhere, and release notes and bill of materials are what they should be."""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts/lib"))
import release_notes  # noqa: E402

SBOM = os.path.join(ROOT, "scripts/lib/sbom.py")


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


VERSION = ".".join(re.findall(r"#define CU264_VERSION_[A-Z]+ (\d+)", read("include/cu264/version.h")))


class Version(unittest.TestCase):
    def test_is_told_in_one_place(self):
        self.assertRegex(VERSION, r"^\d+\.\d+\.\d+$")
        self.assertIn(f"\nversion: {VERSION}\n", read("CITATION.cff"))
        for name in ("CMakeLists.txt", "pyproject.toml", "integrations/gstreamer/CMakeLists.txt"):
            self.assertNotRegex(read(name), r"(?i)\bversion\s*=?\s*\"?\d+\.\d+\.\d+\"?\s*(?:$|DESC|LANG)", name)

    def test_changelog_has_it(self):
        changelog = read("CHANGELOG.md")
        first = re.search(r"^## \[(.*?)\]", changelog, re.MULTILINE).group(1)
        self.assertIn(first, ("Unreleased", VERSION))
        self.assertIn(VERSION, changelog)

    def test_pyproject_finds_it(self):
        pattern = re.search(r"regex = '''(.*?)'''", read("pyproject.toml"), re.DOTALL).group(1)
        found = re.search(pattern, read("include/cu264/version.h"))
        self.assertEqual("{major}.{minor}.{patch}".format(**found.groupdict()), VERSION)


class Notes(unittest.TestCase):
    TEXT = "# Changelog\n\n## [Unreleased]\n\nsoon\n\n## [0.2.0] - 2027-01-01\n\n### Added\n\n- this\n\n## [0.1.0]\n\n- that\n"

    def test_are_the_section_of_the_version(self):
        self.assertEqual(release_notes.section(self.TEXT, "0.2.0"), "### Added\n\n- this")
        self.assertEqual(release_notes.section(self.TEXT, "0.1.0"), "- that")
        self.assertIsNone(release_notes.section(self.TEXT, "0.3.0"))
        self.assertIsNone(release_notes.section(self.TEXT, "0.1"))

    def test_of_a_version_that_is_not_there(self):
        done = subprocess.run([sys.executable, "-B", os.path.join(ROOT, "scripts/lib/release_notes.py"), "99.0.0"],
                              stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (1, "CHANGELOG.md has no section [99.0.0]\n"))


class ExtensionModule(unittest.TestCase):
    """A module is refused if what nm calls undefined in it is cu264's own."""

    def check(self, symbols):
        with tempfile.TemporaryDirectory() as folder:
            nm = os.path.join(folder, "nm")
            with open(nm, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\ncat <<'END'\n{symbols}END\n")
            os.chmod(nm, 0o755)
            return subprocess.run([os.environ.get("CMAKE", "cmake"), f"-DNM={nm}", "-DMODULE=_core.abi3.so", "-P",
                                   os.path.join(ROOT, "cmake/CheckDefined.cmake")], stderr=subprocess.PIPE, text=True, timeout=60)

    def test_may_lack_what_others_bring(self):
        done = self.check("                 U PyLong_AsLong\n                 U memcpy@GLIBC_2.14\n                 U tbb::detail::r1::execution_slot(int)\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_has_what_it_calls_of_cu264(self):
        for symbol in ("cu264::encoder::isa_portable::reconstruct_rows(int)", "typeinfo for cu264::Error", "nanobind::detail::nb_func_new(int)"):
            done = self.check(f"                 U PyLong_AsLong\n                 U {symbol}\n")
            self.assertEqual(done.returncode, 1, symbol)
            self.assertIn(symbol, done.stderr)


class BillOfMaterials(unittest.TestCase):
    def test_says_what_is_in_which_file(self):
        with tempfile.TemporaryDirectory() as folder:
            source, cpu, cuda = (os.path.join(folder, name) for name in ("cu264-1.tar.gz", "cpu.whl", "cuda.whl"))
            with open(source, "wb") as file:
                file.write(b"source")
            for wheel, module in ((cpu, b"code"), (cuda, b"code\0.nv_fatbin\0")):
                with zipfile.ZipFile(wheel, "w") as file:
                    file.writestr("cu264/_core.abi3.so", module)
                    file.writestr("cu264.libs/libtbb-1.so.12", b"")
            done = subprocess.run([sys.executable, "-B", SBOM, "1.0", "abc", "13.0.88", cuda, source, cpu], stdout=subprocess.PIPE,
                                  check=True, timeout=60, env={**os.environ, "SOURCE_DATE_EPOCH": "0"})
            with open(source, "rb") as file:
                checksum = hashlib.sha256(file.read()).hexdigest()
        document = json.loads(done.stdout)
        self.assertEqual((document["spdxVersion"], document["creationInfo"]["created"]), ("SPDX-2.3", "1970-01-01T00:00:00Z"))
        packages = {one["SPDXID"]: one for one in document["packages"]}
        contains = {(one["spdxElementId"], one["relatedSpdxElement"]) for one in document["relationships"] if one["relationshipType"] == "CONTAINS"}
        self.assertEqual(packages["SPDXRef-cu264-1.tar.gz"]["checksums"][0]["checksumValue"], checksum)
        self.assertEqual(packages["SPDXRef-CUDA-runtime"]["versionInfo"], "13.0.88")
        self.assertIn(("SPDXRef-cuda.whl", "SPDXRef-CUDA-runtime"), contains)
        self.assertNotIn(("SPDXRef-cpu.whl", "SPDXRef-CUDA-runtime"), contains)
        self.assertIn(("SPDXRef-cpu.whl", "SPDXRef-oneTBB"), contains)
        self.assertIn("NVIDIA", packages["SPDXRef-cuda.whl"]["licenseDeclared"])
        # Every name that is used is explained.
        for one in document["relationships"]:
            self.assertIn(one["relatedSpdxElement"], packages)

    @unittest.skipUnless(shutil.which("dpkg-deb"), "needs dpkg-deb")
    def test_of_a_debian_package(self):
        with tempfile.TemporaryDirectory() as folder:
            place = os.path.join(folder, "made")
            os.makedirs(os.path.join(place, "DEBIAN"))
            with open(os.path.join(place, "DEBIAN/control"), "w", encoding="ascii") as file:
                file.write("Package: libx\nVersion: 1\nArchitecture: all\nMaintainer: none <none@invalid>\nDescription: none\n")
            with open(os.path.join(place, "libx.so.0"), "wb") as file:
                file.write(b"\0.nv_fatbin\0")
            os.symlink("in_another_package.so.0", os.path.join(place, "libx.so"))
            package = os.path.join(folder, "libx.deb")
            subprocess.run(["dpkg-deb", "--build", "--root-owner-group", place, package], check=True, stdout=subprocess.DEVNULL, timeout=60)
            done = subprocess.run([sys.executable, "-B", SBOM, "1.0", "abc", "13.0", package], stdout=subprocess.PIPE, check=True, timeout=60)
        self.assertIn("CUDA runtime", [one["name"] for one in json.loads(done.stdout)["packages"]])


if __name__ == "__main__":
    unittest.main()
