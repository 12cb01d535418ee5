// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/name_service.hpp"

#include "sinew/base/check.hpp"

namespace sinew::tool {
namespace {

std::string well(const char* what) { return std::string("cmd=") + what + " rc=0 info=ok"; }

std::string refused(const char* what, const char* why) {
  return std::string("cmd=") + what + " rc=-1 info=" + why + " msg=" + why + "\n";
}

}  // namespace

std::string name_service::answer(const boot::pmi_message& message) {
  const std::string& command = message.command();
  const auto name = message.find("service");
  const auto found = name ? values_.find(*name) : values_.end();
  if (command == "publish_name") {
    const auto value = message.find("port");
    if (!name || !value || found != values_.end() ||
        bytes_ + name->size() + value->size() > limit) {
      return refused("publish_result", found != values_.end() ? "exists_already" : "not_possible");
    }
    bytes_ += name->size() + value->size();
    values_.emplace(*name, *value);
    return well("publish_result") + "\n";
  }
  if (command == "lookup_name") {
    return found == values_.end() ? refused("lookup_result", "not_found")
                                  : well("lookup_result") + " port=" + found->second + "\n";
  }
  SINEW_EXPECT(command == "unpublish_name");
  if (found == values_.end()) {
    return refused("unpublish_result", "not_found");
  }
  SINEW_ASSERT(bytes_ >= found->first.size() + found->second.size());
  bytes_ -= found->first.size() + found->second.size();
  values_.erase(found);
  return well("unpublish_result") + "\n";
}

}  // namespace sinew::tool
