// SPDX-License-Identifier: BSD-3-Clause
// A runtime over a back-end that is not in the table: it is handed over.
#include "sinew/fabric/back_ends.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "fabric/smallest.hpp"
#include "sinew/core/runtime.hpp"

namespace sinew::core {
namespace {

/// Of a job of one rank. (Jobs of many in one process have runtime::over().)
class only_session final : public boot::session {
 public:
  [[nodiscard]] const boot::place& where() const override { return place_; }
  void put(const std::string& key, const std::string& value) override { values_[key] = value; }
  [[nodiscard]] std::optional<std::string> get(const std::string& key) override {
    const auto found = values_.find(key);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }
  void fence() override { ++fences; }
  [[nodiscard]] std::byte* map_node_memory(std::size_t) override { return nullptr; }
  [[nodiscard]] std::byte* map_node_heap(std::size_t) override { return nullptr; }
  [[noreturn]] void abort(int, std::string_view) override { std::abort(); }
  void finalize() override { finalized_ = true; }

  int fences = 0;

 private:
  boot::place place_;
  std::map<std::string, std::string> values_;
};

class smallest_network final : public fabric::network {
 public:
  [[nodiscard]] const std::string& address() const noexcept override { return address_; }
  [[nodiscard]] std::string version() const override { return "smallest 1"; }
  [[nodiscard]] std::unique_ptr<fabric::network_endpoint> connect(job_rank rank,
                                                                  fabric::address_source addresses,
                                                                  fabric::rank_names) override {
    EXPECT_EQ(addresses(rank), address_);  // core has told it
    auto made = fabric::contract::open_smallest(1, false);
    return std::unique_ptr<fabric::network_endpoint>(
        dynamic_cast<fabric::network_endpoint*>(made.front().release()));
  }

 private:
  std::string address_ = "here";
};

std::shared_ptr<fabric::network> open_smallest(const fabric::network_options& options) {
  EXPECT_FALSE(options.between_nodes_only);
  return std::make_shared<smallest_network>();
}

constexpr fabric::back_end handed_over{
    .name = "smallest", .about = "ranks of a test", .open = open_smallest};

TEST(back_ends, one_that_is_handed_over_carries_all_messages) {
  const auto rt =
      runtime::open(std::make_unique<only_session>(), threading::one, std::span(&handed_over, 1));
  EXPECT_STREQ(rt->endpoint().name(), "smallest");
  std::uint64_t arrived = 0;
  rt->endpoint().set_handler(
      1,
      [](void* number, const fabric::arrival& m) noexcept {
        *static_cast<std::uint64_t*>(number) = m.head.word[0];
        return status::ok();
      },
      &arrived);
  EXPECT_TRUE(rt->endpoint().send_short(0, 1, {{7, 0}}, nullptr, 0).done());
  rt->wait_until([](void* number) { return *static_cast<std::uint64_t*>(number) == 7; }, &arrived);
  // Ranks over a network leave together: else the first to end would be taken for dead.
  const int& fences = static_cast<only_session&>(rt->session()).fences;
  const int before = fences;
  rt->leave();
  EXPECT_EQ(fences, before + 1);
}

}  // namespace
}  // namespace sinew::core
