// sinew info.
#include "sinew/commands.hpp"

namespace sinew::tool {

int info_main(int, char**) { throw usage_failure("not yet"); }
command_page info_page() { return {"info", "settings, transports, topology, versions", "[config|transports|topology|deps] [--json]", "", {}}; }

}  // namespace sinew::tool
