# Scripts source this after common.sh. It installs the missing ones of a list of Debian and Ubuntu packages. Their names
# are those of Debian 12 and 13 and of Ubuntu 24.04.

packages_build=(g++ cmake ninja-build pkg-config libtbb-dev libboost-program-options-dev nlohmann-json3-dev
  libavfilter-dev libavformat-dev libavcodec-dev libavutil-dev libswscale-dev libssl-dev)
packages_demo=(ffmpeg)
packages_test=(libgtest-dev libgmock-dev libopenh264-dev ffmpeg python3 git)
packages_full=(libbenchmark-dev libboost-context-dev)
packages_fuzz=(clang)
packages_lint=(clang-tidy)

is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# Prints those of its arguments that are not installed, each on a line.
missing_packages() {
  local package
  for package in "$@"; do
    is_installed "$package" || printf '%s\n' "$package"
  done
}

apt() {
  local -a become=()
  if [ "$(id -u)" -ne 0 ]; then
    # Without a terminal nobody can type a password; with -n sudo then fails instead of waiting.
    if [ -t 0 ]; then become=(sudo); else become=(sudo -n); fi
  fi
  "${become[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -y "$@" </dev/null
}

# install_packages PACKAGE...: says why and returns 1 if a package is missing and cannot be installed.
install_packages() {
  if ! have apt-get || ! have dpkg-query; then
    warn "there is no apt-get here; please make sure that these packages, or their equivalents, are installed: $*"
    return 0
  fi
  local -a missing
  mapfile -t missing < <(missing_packages "$@")
  [ "${#missing[@]}" -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ] && ! have sudo; then
    warn "packages are missing, and without root or sudo they cannot be installed; as root, run: apt-get install ${missing[*]}"
    return 1
  fi
  say "Installing ${missing[*]}"
  # Even a stale or partial package index may hold what is needed, so only the installation decides.
  apt -qq update || warn "apt-get update failed; trying with the package lists that are there"
  apt -qq install --no-install-recommends "${missing[@]}" && return 0
  warn "apt-get could not install: ${missing[*]} (is there a network, and is the package mirror reachable?)"
  return 1
}

need_packages() { install_packages "$@" || die "cannot continue without these packages"; }
