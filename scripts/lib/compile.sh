# Scripts source this after common.sh. It configures and compiles builds, with what ccache kept of earlier ones.

if have ccache; then
  export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}
  export CMAKE_CUDA_COMPILER_LAUNCHER=${CMAKE_CUDA_COMPILER_LAUNCHER-ccache}
  # Objects are found again from another clone: paths are relative, and debug information may name the first one's.
  export CCACHE_BASEDIR=${CCACHE_BASEDIR-$root} CCACHE_NOHASHDIR=1
  # Without these it does not keep what includes a precompiled header.
  export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS-pch_defines,time_macros}
fi

configure() { cmake -S "$root" -B "$root/$1" -G Ninja "${@:2}"; }  # FOLDER CMAKE OPTION...
# The build with sanitizers, which scripts/fuzz uses too. -O1 keeps tests quick enough. The type is not Release, because that
# compiles the search with -O3.
configure_sanitized() {  # CMAKE OPTION...
  configure build-sanitize -DCMAKE_BUILD_TYPE=Sanitize "-DCMAKE_CXX_FLAGS_SANITIZE=-O1 -g1" -DCU264_TESTS=ON \
    -DCU264_BENCH=OFF -DCU264_SAMPLES=OFF -DCU264_CUDA=OFF "$@"
}
# The build with ThreadSanitizer: kernels on the processor, in tests that have several threads.
configure_threads() {
  configure build-threads -DCMAKE_BUILD_TYPE=Sanitize "-DCMAKE_CXX_FLAGS_SANITIZE=-O1 -g1" -DCU264_TESTS=ON \
    -DCU264_SANITIZE=thread -DCU264_APP=OFF -DCU264_C=OFF -DCU264_BENCH=OFF -DCU264_SAMPLES=OFF -DCU264_CUDA=ON \
    -DCU264_CUDA_ARCHITECTURES=90-real
}
compile() { cmake --build "$root/$1" -j "$jobs" "${@:2}"; }         # FOLDER [--target TARGET...]
