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
  install_packages g++ cmake ninja-build libtbb-dev libgtest-dev ||
    warn "continuing with the packages that are here; CMake will name what it lacks"
  need_nvcc
  architectures=$(gpu_architectures)
  say "Building for GPU architectures ${architectures:-all-major}"
  configure build-gpu -DCMAKE_BUILD_TYPE=Release -DCU264_APP=OFF -DCU264_SAMPLES=OFF -DCU264_TESTS=ON \
    -DCU264_CUDA=ON "-DCMAKE_CUDA_COMPILER=$nvcc" "-DCU264_CUDA_ARCHITECTURES=$architectures"
  compile build-gpu --target gpu_tests
  program=$root/build-gpu/bin/parity_tests
  if "$program" --gtest_filter=SessionParity.SmallCase | grep 'no usable CUDA device' | head -n 1; then
    die "there is no usable GPU, so nothing could be compared"
  fi
  say "Testing"
  # Tests run one at a time, because they share the device's memory.
  ctest --test-dir "$root/build-gpu" -L gpu --output-on-failure --no-tests=error "$@"
  if ! sanitizer=$(find_compute_sanitizer); then
    warn "no compute-sanitizer here (it comes with NVIDIA's CUDA toolkit): its checks are left out"
    return
  fi
  for tool in memcheck racecheck initcheck synccheck; do
    say "compute-sanitizer: $tool"
    "$sanitizer" --tool $tool --error-exitcode 1 "$program" --gtest_filter=SessionParity.SmallCase
  done
}
