#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check.sh SOURCES: assembles the arm64 context switch, and runs it in an emulator if there is one.
# Exit code 77: there is no assembler for arm64 here.
set -eu
sources=$1
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
if command -v aarch64-linux-gnu-gcc > /dev/null; then
  compile="aarch64-linux-gnu-gcc"
elif clang=$(command -v clang-19 || command -v clang); then
  compile="$clang --target=aarch64-linux-gnu"
else
  echo "neither clang nor aarch64-linux-gnu-gcc: not checked"
  exit 77
fi
$compile -c "$sources/src/fiber/switch_aarch64.S" -o "$room/switch.o"
$compile -O1 -ffreestanding -fno-pic -fno-stack-protector \
  -c "$sources/tests/fiber/arm64/switch_check.c" -o "$room/check.o"
echo "assembled"
linker=$(command -v aarch64-linux-gnu-ld || command -v ld.lld-19 || command -v ld.lld || true)
emulator=$(command -v qemu-aarch64-static || command -v qemu-aarch64 || true)
if [ "$(uname -m)" = aarch64 ]; then
  emulator=env
fi
if [ -z "$linker" ] || [ -z "$emulator" ]; then
  echo "no linker or emulator for arm64: not run"
  exit 0
fi
"$linker" -static "$room/check.o" "$room/switch.o" -o "$room/check"
timeout 60 "$emulator" "$room/check"
echo "run: all good"
