# Scripts source this after install.sh. It finds a CUDA compiler or installs one.

# NVIDIA publishes its compiler on the Python package index too. That one needs neither root nor a toolkit of 3 GB, and
# it supports new host compilers, which a distribution's package may not. It is installed in a folder of the build.
cuda_environment=$root/build/cuda
cuda_wheels=$root/scripts/lib/cuda-wheels.txt

# Prints the first nvcc of CUDA 12 or newer.
find_nvcc() {
  local nvcc major
  for nvcc in "${CUDACXX:-}" "$(command -v nvcc || true)" "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" \
    "$cuda_environment"/lib/python3*/site-packages/nvidia/cu13/bin/nvcc; do
    [ -x "$nvcc" ] || continue
    major=$("$nvcc" --version 2>/dev/null | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
    [ "${major:-0}" -ge 12 ] && printf '%s\n' "$nvcc" && return
  done
  return 1
}

# Prints the compute capabilities of the GPUs here, such as "90;100"; nothing if they are not known.
gpu_architectures() {
  have nvidia-smi || return 0
  nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d '. ' | sort -u | paste -sd ';'
}

# Prints the newest major version of CUDA that the driver here can run; nothing without a driver.
driver_cuda_major() {
  have nvidia-smi || return 0
  nvidia-smi 2>/dev/null | sed -n 's/.*CUDA[A-Za-z ]*Version: *\([0-9]*\).*/\1/p' | head -n 1
}

# CMake looks for the shared runtime under its plain name, which the wheels lack.
complete_cuda_wheels() {
  local runtime
  for runtime in "$cuda_environment"/lib/python3*/site-packages/nvidia/cu13/lib/libcudart.so.13; do
    [ -e "$runtime" ] && ln -sf "${runtime##*/}" "${runtime%.13}"
  done
  return 0
}

install_cuda_wheels() {
  local driver
  driver=$(driver_cuda_major)
  if [ "${driver:-13}" -lt 13 ]; then
    warn "the driver here is for CUDA $driver, but the Python package index has compilers only of CUDA 13, whose \
programs need driver 580 or newer"
    return 1
  fi
  install_packages python3 python3-venv || return 1
  say "Installing NVIDIA's compiler from the Python package index into $cuda_environment"
  python3 -m venv "$cuda_environment" &&
    "$cuda_environment/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --require-hashes \
      --requirement "$cuda_wheels" && return
  warn "the Python package index gave no compiler, or not the one whose hashes are in $cuda_wheels (is there a network, \
and python3 with venv and pip?)"
  return 1
}

install_cuda_package() {
  local candidate
  have apt-cache || return 1
  candidate=$(apt-cache policy nvidia-cuda-toolkit 2>/dev/null | sed -n 's/ *Candidate: //p')
  case $candidate in
    '' | '(none)') warn "the distribution has no package nvidia-cuda-toolkit (Debian keeps it in non-free)"; return 1 ;;
    1[2-9].* | [2-9][0-9].*) install_packages nvidia-cuda-toolkit ;;
    *) warn "the distribution's nvidia-cuda-toolkit is of CUDA $candidate, too old"; return 1 ;;
  esac
}

# Sets nvcc to the path of a compiler, or exits.
need_nvcc() {
  complete_cuda_wheels  # an earlier run may have installed them
  nvcc=$(find_nvcc) && return
  install_cuda_wheels || install_cuda_package || true
  complete_cuda_wheels
  nvcc=$(find_nvcc) || die "no CUDA compiler of version 12 or newer here, and none could be installed: the notes above say \
why. Install NVIDIA's CUDA toolkit and put nvcc on PATH, or name it in CUDACXX; or build without --with-cuda, for the CPU"
}
