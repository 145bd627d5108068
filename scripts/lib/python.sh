# scripts/test sources this after install.sh. It makes the environment that the Python package is built and tested in.

python_environment=$root/build/python-environment

# Sets python_options to what CMake needs. Fails, and says why, where the environment cannot be made.
prepare_python() {
  local requirements=$root/python/tests/requirements.txt
  python_options=(-DCU264_PYTHON=OFF)
  if ! python3 -c 'import ensurepip, os, sysconfig, venv
assert os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))' 2>/dev/null; then
    install_packages python3-dev python3-venv || return 1
  fi
  if ! cmp -s "$requirements" "$python_environment/requirements.txt"; then
    rm -rf "$python_environment"
    python3 -m venv "$python_environment" &&
      "$python_environment/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: \
        --requirement "$requirements" || return 1
    cp "$requirements" "$python_environment/requirements.txt"
  fi
  local ray=$root/python/tests/requirements-ray.txt
  if ! cmp -s "$ray" "$python_environment/requirements-ray.txt"; then
    if "$python_environment/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: \
      --requirement "$ray" --constraint "$requirements"; then
      cp "$ray" "$python_environment/requirements-ray.txt"
    else
      warn "Ray cannot be installed here: the tests of cu264.ray are skipped"
    fi
  fi
  python_options=(-DCU264_PYTHON=ON "-DPython_EXECUTABLE=$python_environment/bin/python")
}
