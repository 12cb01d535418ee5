// What `sinew bench routing` and `sinew bench chunks` run: lines "@ case metric unit params value".
#pragma once

namespace sinew::tool {

/// Words: "routing" or "chunks", then "nodes=N,N", "sizes=N,N" (of chunks) and "step=N" (every N-th
/// of the 91 experiments). Returns an exit code.
int measure_routes(int argc, char** argv);

}  // namespace sinew::tool
