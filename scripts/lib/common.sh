# Every script here sources this file. It finds the repository and the number of processors, and prints messages.
set -euo pipefail
export LC_ALL=C  # so that figures have a decimal point

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
jobs=$(nproc 2>/dev/null || echo 2)

say() { printf '\n== %s\n' "$*"; }
# step NAME: what follows is the step NAME. print_steps tells how long each took, in one line.
steps=()
step() { steps+=("$SECONDS" "$1"); }
print_steps() {
  local line='' i
  steps+=("$SECONDS" end)
  for ((i = 0; i + 2 < ${#steps[@]}; i += 2)); do
    line+="${line:+, }${steps[i + 1]} $((steps[i + 2] - steps[i])) s"
  done
  [ -z "$line" ] || say "$line"
}
warn() { printf 'note: %s\n' "$*" >&2; }
die() {
  printf '%s: error: %s\n' "${0##*/}" "$*" >&2
  exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }
