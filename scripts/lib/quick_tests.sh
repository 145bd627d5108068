# scripts/test sources this for the quick tests: one build for the processor, and what it tests in a minute or two.

quick_tests() {  # CTEST OPTION...
  step packages
  need_packages "${packages_build[@]}" "${packages_test[@]}"
  step building
  say "Building"
  # A folder of its own leaves the command that scripts/build made as it is.
  configure build-test -DCMAKE_BUILD_TYPE=Release -DCU264_TESTS=ON -DCU264_BENCH=OFF -DCU264_CUDA=OFF \
    -DCU264_PYTHON=OFF
  compile build-test
  step testing
  say "Testing"
  CU264_TEST_QUICK=1 ctest --test-dir "$root/build-test" -LE long -j "$jobs" --output-on-failure --no-tests=error "$@"
}
