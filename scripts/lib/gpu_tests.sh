# scripts/test sources this for --gpu.
source "$root/scripts/lib/cuda.sh"

find_compute_sanitizer() {
  local tool
  for tool in "$(command -v compute-sanitizer || true)" "$(dirname "$nvcc")/compute-sanitizer"; do
    [ -x "$tool" ] && printf '%s\n' "$tool" && return
  done
  return 1
}

gpu_tests() {  # CTEST OPTION...
  local architectures sanitizer tool program
  local -a python_options=(-DCU264_PYTHON=OFF)
  install_packages g++ cmake ninja-build libtbb-dev libgtest-dev ||
    warn "continuing with the packages that are here; CMake will name what it lacks"
  need_nvcc
  architectures=$(gpu_architectures)
  # The interpreter that has PyTorch or CuPy is the caller's own.
  if python3 -c 'import nanobind, numpy, pytest' 2>/dev/null; then
    python_options=(-DCU264_PYTHON=ON "-DPython_EXECUTABLE=$(command -v python3)")
  else
    warn "python3 has no nanobind, numpy and pytest: the tests of the Python package are skipped"
  fi
  say "Building for GPU architectures ${architectures:-all-major}"
  configure build-gpu -DCMAKE_BUILD_TYPE=Release -DCU264_APP=OFF -DCU264_SAMPLES=OFF -DCU264_TESTS=ON \
    -DCU264_CUDA=ON "-DCMAKE_CUDA_COMPILER=$nvcc" "-DCU264_CUDA_ARCHITECTURES=$architectures" "${python_options[@]}"
  compile build-gpu --target gpu_tests
  [ "${python_options[0]}" = -DCU264_PYTHON=OFF ] || compile build-gpu --target cu264_python
  program=$root/build-gpu/bin/parity_tests
  if "$program" --gtest_filter=SessionParity.SmallCase | grep 'no usable CUDA device' | head -n 1; then
    die "there is no usable GPU, so nothing could be compared"
  fi
  say "Testing"
  # Tests run one at a time, because they share the device's memory.
  ctest --test-dir "$root/build-gpu" -L gpu --output-on-failure --no-tests=error "$@"
  say "Random streams for a minute"
  "$root/build-gpu/bin/random_parity" --seconds 60
  if ! sanitizer=$(find_compute_sanitizer); then
    warn "no compute-sanitizer here (it comes with NVIDIA's CUDA toolkit): its checks are left out"
    return
  fi
  for tool in memcheck racecheck initcheck synccheck; do
    say "compute-sanitizer: $tool"
    "$sanitizer" --tool $tool --error-exitcode 1 "$program" --gtest_filter=SessionParity.SmallCase
  done
}
