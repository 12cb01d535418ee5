// SPDX-License-Identifier: BSD-3-Clause
// What `sinew bench routing`, `--sweep` and `chunks` run: lines "@ case metric unit params value".
#pragma once

namespace sinew::tool {

/// Words: "routing", "chunks" or "sweep", then "nodes=N,N", "patterns=A,B" (routing), "sizes=N,N"
/// of chunks and "step=N", every N-th of the 91 experiments (chunks), "along=A,B" (sweep: distance,
/// destinations, bytes, ranks-per-node, paths-fed, aggregation). Returns an exit code.
int measure_routes(int argc, char** argv);

}  // namespace sinew::tool
