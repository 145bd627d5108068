# Every script here sources this file. It finds the repository and the number of processors, and prints messages.
set -euo pipefail
export LC_ALL=C  # so that figures have a decimal point

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
jobs=$(nproc 2>/dev/null || echo 2)

say() { printf '\n== %s\n' "$*"; }
warn() { printf 'note: %s\n' "$*" >&2; }
die() {
  printf '%s: error: %s\n' "${0##*/}" "$*" >&2
  exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }
