#include "fabric/tuning.hpp"

#include <string>

#include "sinew/base/settings.hpp"

namespace sinew::fabric {
namespace {

setting<std::int64_t> packets(
    "fabric", "packets", 256, "count",
    "8-KiB packets that each rank holds for messages under way (fewer where a node has more than "
    "8 ranks)",
    {.least = least_packets, .most = most_packets});
setting<std::int64_t> stream_limit(
    "fabric", "stream_limit", std::int64_t{32} << 10, "bytes",
    "up to this size a get is always streamed through shared packets; above it only while the "
    "processors are near each other, else both sides copy by process_vm_readv/writev",
    {.least = 0, .most = most_setting_bytes});
setting<std::string> cma("fabric", "cma", "auto", "",
                         "copy between processes by process_vm_readv/writev", "auto|off");

}  // namespace

tuning current_tuning() { return {packets(), stream_limit(), cma() != "off"}; }

}  // namespace sinew::fabric
