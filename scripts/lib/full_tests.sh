# scripts/test sources this for --full.
source "$root/scripts/lib/python.sh"

# In some releases libFuzzer's runtime is a separate package, named after clang's version.
clang_fuzzes() {
  have clang++ && echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' |
    clang++ -x c++ -fsanitize=fuzzer,address,undefined - -o /dev/null 2>/dev/null
}
prepare_clang() {
  clang_fuzzes && return
  install_packages "${packages_fuzz[@]}" || return 1
  clang_fuzzes && return
  local major
  major=$(clang++ -dumpversion | cut -d. -f1)
  install_packages "libclang-rt-$major-dev" && clang_fuzzes
}

full_tests() {  # CTEST OPTION...
  step packages
  need_packages "${packages_build[@]}" "${packages_test[@]}" "${packages_full[@]}"
  have clang-tidy || install_packages "${packages_lint[@]}" || warn "no clang-tidy here: scripts/lint is skipped"
  prepare_python || warn "the Python package index cannot be reached, or this Python is too old or new for the versions in \
python/tests/requirements.txt: the tests of the Python package are skipped"

  step building
  say "Building: Release"
  # Kernels are built for the GPUs that were measured; scripts/build builds them for all.
  configure build -DCMAKE_BUILD_TYPE=Release -DCU264_TESTS=ON -DCU264_BENCH=ON "-DCU264_CUDA=${CU264_CUDA:-AUTO}" \
    -DCU264_CUDA_ARCHITECTURES=90-real "${python_options[@]}"
  compile build

  step "building with sanitizers"
  say "Building: sanitizers"
  local -a sanitize=(-DCU264_FUZZ=ON -DCMAKE_CXX_COMPILER=clang++)
  if ! prepare_clang; then
    warn "there is no clang with libFuzzer here, so the fuzz targets are skipped"
    sanitize=(-DCU264_SANITIZE=address,undefined)
  fi
  configure_sanitized "${sanitize[@]}"
  compile build-sanitize --target sanitized_tests

  local -a folders=("$root/build" "$root/build-sanitize")
  if [ "${CU264_CUDA:-AUTO}" != OFF ] && grep -q '^CMAKE_CUDA_COMPILER:.*/' "$root/build/CMakeCache.txt"; then
    step "building with ThreadSanitizer"
    say "Building: ThreadSanitizer"
    configure_threads
    compile build-threads --target thread_tests
    folders+=("$root/build-threads/tests/emulator")  # no other tests are built there
  fi

  # A single ctest run gives one summary of everything.
  local all=$root/build/all-tests
  mkdir -p "$all"
  {
    printf 'subdirs("%s")\n' "${folders[@]}"
    echo "add_test(lint \"$root/scripts/lint\" \"$root/build\")"
    echo "add_test(site \"$root/scripts/site\")"
    echo "set_tests_properties(site PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77 LABELS docs)"
    # First, since it wants all processors: later it would wait for the others to end.
    echo "set_tests_properties(lint PROPERTIES PROCESSORS $jobs COST 1000 TIMEOUT 1800 SKIP_RETURN_CODE 77 LABELS lint)"
  } >"$all/CTestTestfile.cmake"
  step testing
  say "Testing"
  ctest --test-dir "$all" -j "$jobs" --output-on-failure --no-tests=error "$@"
}
