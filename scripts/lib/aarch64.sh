# Scripts source this after install.sh. It has what building for 64-bit ARM on x86-64 needs, and running that under QEMU.

packages_aarch64=(g++-aarch64-linux-gnu qemu-user-static)

# unpack_debian FOLDER SUITE PACKAGE...: unpacks packages of Debian for ARM, through a configuration of its own, so that the
# system's is left alone.
unpack_debian() {
  local folder=$1 suite=$2 work=$root/build-aarch64/apt-$2 package
  shift 2
  mkdir -p "$folder" "$work/lists/partial" "$work/archives/partial" "$work/sources" "$work/download"
  cat >"$work/sources/debian.sources" <<END
Types: deb
URIs: http://deb.debian.org/debian
Suites: $suite
Components: main
Architectures: arm64
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
END
  : >"$work/status"
  cat >"$work/apt.conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
Dir::State::Lists "$work/lists";
Dir::State::status "$work/status";
Dir::Cache "$work";
Dir::Etc::SourceList "/dev/null";
Dir::Etc::SourceParts "$work/sources";
END
  (cd "$work/download" && export APT_CONFIG=$work/apt.conf && apt-get -qq update && apt-get -qq download "$@") ||
    die "the packages for ARM cannot be downloaded: $*"
  for package in "$work"/download/*.deb; do dpkg-deb -x "$package" "$folder"; done
}

# Sets sysroot to a folder with the libraries that are linked.
prepare_sysroot() {
  sysroot=$root/build-aarch64/sysroot
  [ -f "$sysroot/done" ] && return
  say "Fetching oneTBB and libcrypto for ARM"
  unpack_debian "$sysroot" "$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")" libtbb-dev libtbb12 libtbbmalloc2 libtbbbind-2-5 \
    libssl-dev "$([ "$(. /etc/os-release && echo "$VERSION_ID")" = 12 ] && echo libssl3 || echo libssl3t64)"
  touch "$sysroot/done"
}

# Sets arm_python to the command of a Python for ARM, 3.13 of Debian 13, with NumPy.
prepare_arm_python() {
  local folder=$root/build-aarch64/python
  arm_python=(qemu-aarch64-static -L "$folder" -E "PYTHONHOME=$folder/usr" "$folder/usr/bin/python3.13")
  [ -f "$folder/done" ] && return
  say "Fetching Python for ARM"
  unpack_debian "$folder" trixie libc6 libgcc-s1 libstdc++6 zlib1g libexpat1 libffi8 libssl3t64 libbz2-1.0 liblzma5 libzstd1 \
    libsqlite3-0 libuuid1 libreadline8t64 libncursesw6 libtinfo6 libpython3.13-minimal libpython3.13-stdlib python3.13-minimal python3.13
  # The dynamic linker is where Debian 13 has it, by way of a link of another package.
  [ -e "$folder/lib" ] || ln -s usr/lib "$folder/lib"
  touch "$folder/done"
}

# Sets what scripts/wheel builds and tries a wheel for ARM with.
prepare_arm_wheel() {
  local own=$root/build-wheel/python/cu264/_core.pyi
  [ -f "$own" ] && [ -x "$root/build-wheel/try/bin/python" ] || die "the wheel for this processor comes first: scripts/wheel"
  need_packages "${packages_aarch64[@]}" dpkg-dev
  prepare_sysroot
  prepare_arm_python
  made=$root/build-aarch64/wheel
  try=try_arm_wheel
  options=(-Ccmake.define.CU264_CUDA=OFF "-Ccmake.define.CU264_COMMIT=$(release_commit)"
    "-Ccmake.define.CMAKE_TOOLCHAIN_FILE=$root/cmake/aarch64.cmake" "-Ccmake.define.CU264_SYSROOT=$sysroot"
    "-Ccmake.define.CU264_PYTHON_STUB=$own")
  arm_libraries=$sysroot/usr/lib/aarch64-linux-gnu
}

# Every preset, both coders of levels, both of sizes of blocks, and rate control.
coded_pictures() {
  cat <<'END'
import hashlib, platform, sys
import cu264, numpy
y, x = numpy.mgrid[0:182, 0:322]
frames = numpy.stack([numpy.stack([x * (i + 1) ^ y, x + y * 3 + i, (x * y >> 3) + i], -1) for i in range(6)]).astype(numpy.uint8)
digest = hashlib.sha256()
for settings in (dict(qp=24), dict(crf=23, preset="best"), dict(qp=30, preset="fast", profile="baseline"), dict(bitrate=8_000_000)):
    digest.update(cu264.encode(frames, 24, backend="cpu", **settings))
print(digest.hexdigest())
print(platform.machine(), cu264.info(), sep="\n", file=sys.stderr)
END
}

# Imports the wheel under QEMU, and compares what it codes with what the wheel for this processor codes.
try_arm_wheel() {  # PYTHON WHEEL
  local environment=$made/try here there platform
  platform=${2##*-}
  rm -rf "$environment" && mkdir -p "$environment"
  "$root/build-wheel/try/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary :all: --target "$environment" \
    --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 --platform "$(cut -d. -f1 <<<"$platform")" \
    --python-version 3.13 --implementation cp --abi cp313 --abi abi3 numpy "$2" || die "NumPy for ARM cannot be installed"
  there=$(PYTHONPATH=$environment "${arm_python[@]}" -c "$(coded_pictures)") || die "the wheel does not work under QEMU"
  here=$("$root/build-wheel/try/bin/python" -c "$(coded_pictures)")
  say "SHA-256 of what was coded: $here here, $there on ARM"
  [ "$here" = "$there" ] || die "the wheel for ARM codes other bytes"
}
