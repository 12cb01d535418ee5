#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# edges on a file system of 1 MiB that becomes full. $1: sinew, $2: mpi_edges, $3: ranks.
if [ "$(id -u)" != 0 ] || ! unshare -m true 2> /dev/null; then
  echo "skipped: no file system can be mounted here"
  exit 77
fi
folder=$(mktemp -d) || exit 1
unshare -m sh -c 'mount -t tmpfs -o size=1m none "$0" && exec "$1" run -n "$3" --timeout 60 "$2" full "$0"' \
  "$folder" "$@"
code=$?
rmdir "$folder"
exit $code
