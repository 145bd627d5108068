#!/bin/sh
# gpu_keystream.sh PROGRAM: checks that encryption changes a file and decryption restores it. Exits with 77
# without a device.
set -e
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
head -c 32 /dev/urandom > key
head -c 100003 /dev/urandom > plain
"$1" key 7 plain sealed 2> error || {
  cat error
  grep -q "no CUDA-capable device\|CUDA driver version is insufficient" error && exit 77
  exit 1
}
"$1" key 7 sealed back
cmp plain back
! cmp -s plain sealed
# A longer file under the same key and nonce begins with the same bytes.
cat plain plain > longer
"$1" key 7 longer sealed_longer
cmp -n 100003 sealed sealed_longer
