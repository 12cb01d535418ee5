// What `sinew bench routing` and `sinew bench chunks` run: lines "@ case metric unit params value".
#pragma once

namespace sinew::tool {

/// Words: "routing" or "chunks", then "nodes=N,N", "sizes=N,N" (chunks) and "paper" to print the
/// published figures instead. Returns an exit code.
int measure_routes(int argc, char** argv);

}  // namespace sinew::tool
