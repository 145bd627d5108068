# Scripts source this after common.sh. It has the options of CMake that everything of a release is built with.

# Machine code for Turing, Ampere, Hopper, and Blackwell of data centres and of desks. A GPU of the same generation runs it
# too: that of 8.0 serves 8.6 and 8.9, that of 10.0 serves 10.3, that of 12.0 serves 12.1. There is no PTX for later
# generations: it would be a sixth of the wheel.
release_architectures='75-real;80-real;90-real;100-real;120-real'
wheel_limit=25000000  # bytes

# The commit that is checked out; nothing outside a clone, and an addition where files differ from it.
release_commit() {
  have git && git -C "$root" rev-parse --is-inside-work-tree >/dev/null 2>&1 || return 0
  git -C "$root" describe --always --exclude '*' --abbrev=12 --dirty=+changes
}

release_options=("-DCU264_CUDA=${CU264_CUDA:-AUTO}"
  "-DCU264_CUDA_ARCHITECTURES=${CU264_CUDA_ARCHITECTURES:-$release_architectures}"
  -DCU264_CUDA_COMPRESSION=size "-DCU264_COMMIT=$(release_commit)")
