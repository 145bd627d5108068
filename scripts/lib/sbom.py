#!/usr/bin/env python3
"""Writes a software bill of materials as SPDX 2.3: sbom.py VERSION COMMIT CUDA_VERSION FILE... >JSON

It says of each file of a release what is compiled or copied into it. What a wheel holds is read from the wheel, whether there are
kernels from the libraries themselves; a Debian package names what it needs in its own fields.
"""
import datetime
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import uuid
import zipfile

# What may be in a file of a release: its licence, and where it comes from.
PARTS = {
    "oneTBB": ("Apache-2.0", "https://github.com/uxlfoundation/oneTBB"),
    "OpenSSL libcrypto": ("Apache-2.0", "https://www.openssl.org"),
    "nanobind": ("BSD-3-Clause", "https://github.com/wjakob/nanobind"),
    "robin-map": ("MIT", "https://github.com/Tessil/robin-map"),
    "CUDA runtime": ("LicenseRef-NVIDIA-CUDA", "https://docs.nvidia.com/cuda/eula/"),
}
KERNELS = b".nv_fatbin"


def version_of(package):
    """The version of an installed package of Debian."""
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout.strip() or "NOASSERTION"


def versions(cuda, root):
    with open(os.path.join(root, "pyproject.toml"), encoding="utf-8") as file:
        nanobind = re.search(r"nanobind==([\d.]+)", file.read()).group(1)
    return {"oneTBB": version_of("libtbb-dev"), "OpenSSL libcrypto": version_of("libssl-dev"), "nanobind": nanobind,
            "robin-map": "NOASSERTION", "CUDA runtime": cuda}


def parts_of_wheel(data):
    parts = {"nanobind", "robin-map"}
    with zipfile.ZipFile(io.BytesIO(data)) as wheel:
        for name in wheel.namelist():
            if "/libtbb" in name:
                parts.add("oneTBB")
            if "/libcrypto" in name:
                parts.add("OpenSSL libcrypto")
            if name.endswith(".so") and KERNELS in wheel.read(name):
                parts.add("CUDA runtime")
    return parts


def parts_of_package(path):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["dpkg-deb", "-x", path, folder], check=True)
        for place, _, names in os.walk(folder):
            for name in names:
                if os.path.islink(os.path.join(place, name)):  # the development files' leads into another package
                    continue
                with open(os.path.join(place, name), "rb") as file:
                    if KERNELS in file.read():
                        return {"CUDA runtime"}
    return set()


def identifier(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def package(name, version, licence, place, **more):
    return {"SPDXID": identifier(name), "name": name, "versionInfo": version, "downloadLocation": place, "filesAnalyzed": False,
            "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more}


def main(version, commit, cuda, *paths):
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    packages, used, relations = [], set(), []
    for path in sorted(paths, key=os.path.basename):
        name = os.path.basename(path)
        with open(path, "rb") as file:
            data = file.read()
        parts = parts_of_wheel(data) if name.endswith(".whl") else parts_of_package(path) if name.endswith(".deb") else set()
        licence = " AND ".join(["BSD-2-Clause", *sorted({PARTS[part][0] for part in parts} - {"BSD-2-Clause"})])
        packages.append(package(name, version, licence, "NOASSERTION", packageFileName=name,
                                checksums=[{"algorithm": "SHA256", "checksumValue": hashlib.sha256(data).hexdigest()}]))
        relations.append(("SPDXRef-DOCUMENT", "DESCRIBES", identifier(name)))
        relations += [(identifier(name), "CONTAINS", identifier(part)) for part in sorted(parts)]
        used |= parts
    known = versions(cuda, root)
    packages += [package(part, known[part], *PARTS[part]) for part in sorted(used)]
    now = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH") or datetime.datetime.now().timestamp()), datetime.timezone.utc)
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"cu264-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/cu264-{version}-{uuid.uuid5(uuid.NAMESPACE_URL, version + commit)}",
        "creationInfo": {"created": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: cu264-scripts-release"],
                         "comment": f"Built from commit {commit or 'unknown'}"},
        "packages": packages,
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations],
    }
    if "CUDA runtime" in used:
        document["hasExtractedLicensingInfos"] = [{
            "licenseId": "LicenseRef-NVIDIA-CUDA", "name": "NVIDIA CUDA Toolkit End User License Agreement",
            "extractedText": "See https://docs.nvidia.com/cuda/eula/"}]
    json.dump(document, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main(*sys.argv[1:])
