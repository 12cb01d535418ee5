// SPDX-License-Identifier: BSD-3-Clause
// Started by nobody: a job of one rank.
#include <unistd.h>

#include <cstdio>
#include <map>

#include "boot/node_session.hpp"
#include "boot/pmi_channel.hpp"
#include "boot/ways_in.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/sentence.hpp"
#include "sinew/boot/shared_memory.hpp"

namespace sinew::boot {
namespace {

class alone_session final : public session {
 public:
  alone_session() { place_.job = "alone-" + std::to_string(::getpid()); }

  [[nodiscard]] const place& where() const override { return place_; }

  void put(const std::string& key, const std::string& value) override {
    check_key(key);
    values_[key] = value;
  }
  [[nodiscard]] std::optional<std::string> get(const std::string& key) override {
    const auto found = values_.find(key);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }
  void fence() override {}
  [[nodiscard]] bool publish(const std::string& name, const std::string& value) override {
    return names_.emplace(name, value).second;
  }
  [[nodiscard]] std::optional<std::string> lookup(const std::string& name) override {
    const auto found = names_.find(name);
    return found == names_.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] bool unpublish(const std::string& name) override { return names_.erase(name) != 0; }

  [[nodiscard]] std::byte* map_node_memory(std::size_t bytes_per_rank) override {
    SINEW_CHECK(memory_.base() == nullptr, "the node's memory is mapped already",
                "map_node_memory is called once per session", "");
    memory_ = memory_mapping::anonymous(bytes_per_rank);
    return memory_.base();
  }

  [[nodiscard]] std::byte* map_node_heap(std::size_t bytes_per_rank) override {
    SINEW_CHECK(heap_.base() == nullptr, "the node's heap is mapped already",
                "map_node_heap is called once per session", "");
    heap_ = memory_mapping::anonymous(bytes_per_rank);
    return heap_.base();
  }

  [[noreturn]] void abort(int code, std::string_view why) override {
    if (!why.empty()) {
      std::fprintf(stderr, "sinew: aborted with code %d: %s\n", code, as_sentence(why).c_str());
    }
    leave(code);
  }
  void finalize() override { finalized_ = true; }

 private:
  place place_;
  std::map<std::string, std::string> values_;
  std::map<std::string, std::string> names_;
  memory_mapping memory_;
  memory_mapping heap_;
};

}  // namespace

std::unique_ptr<session> join_alone() { return std::make_unique<alone_session>(); }

}  // namespace sinew::boot
