#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# valgrind.sh PROGRAM: valgrind follows the switches of a program with fibers, finds nothing in what
# is right, and finds what is wrong on a fiber's stack. 77: there is no valgrind.
command -v valgrind > /dev/null || { echo "valgrind is not installed"; exit 77; }
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT

valgrind --error-exitcode=9 "$1" > "$out" 2>&1 ||
  { cat "$out"; echo "the program failed, or valgrind objects to it"; exit 1; }
if grep -q "client switching stacks" "$out"; then
  cat "$out"
  echo "valgrind was not told where stacks lie"
  exit 1
fi

valgrind --error-exitcode=9 "$1" wrong > "$out" 2>&1
if [ $? -ne 9 ] || ! grep -q "read_nothing" "$out"; then
  cat "$out"
  echo "an uninitialised variable on a fiber's stack was not found"
  exit 1
fi
