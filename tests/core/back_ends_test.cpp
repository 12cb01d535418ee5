// A runtime over a back-end that is not in the table: it is handed over.
#include "sinew/fabric/back_ends.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fabric/smallest.hpp"
#include "sinew/core/runtime.hpp"

namespace sinew::core {
namespace {

/// What the sessions of a job in this process share.
struct board {
  explicit board(int n) : ranks(n) {}
  const int ranks;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::string> values;
  int arrived = 0;
  int ended = 0;
};

class board_session final : public boot::session {
 public:
  board_session(board& on, int rank) : on_(on) {
    place_.rank = job_rank{rank};
    place_.local_rank = local_rank{rank};
    place_.size = place_.local_size = on.ranks;
    place_.local_ranks.clear();
    for (int r = 0; r < on.ranks; ++r) {
      place_.local_ranks.push_back(job_rank{r});
    }
  }
  [[nodiscard]] const boot::place& where() const override { return place_; }
  void put(const std::string& key, const std::string& value) override {
    const std::lock_guard held(on_.mutex);
    on_.values[key] = value;
  }
  [[nodiscard]] std::optional<std::string> get(const std::string& key) override {
    const std::lock_guard held(on_.mutex);
    const auto found = on_.values.find(key);
    return found == on_.values.end() ? std::nullopt : std::optional(found->second);
  }
  void fence() override {
    ++fences;
    std::unique_lock held(on_.mutex);
    const int round = on_.arrived++ / on_.ranks + 1;
    on_.changed.notify_all();
    on_.changed.wait(held, [&] { return on_.arrived >= round * on_.ranks; });
  }
  [[nodiscard]] std::byte* map_node_memory(std::size_t) override { return nullptr; }
  [[nodiscard]] std::byte* map_node_heap(std::size_t) override { return nullptr; }
  [[noreturn]] void abort(int, std::string_view) override { std::abort(); }
  void finalize() override {
    const std::lock_guard held(on_.mutex);
    ++on_.ended;
  }

  int fences = 0;

 private:
  board& on_;
  boot::place place_;
};

/// The endpoints of a job of two, until they are taken.
std::vector<std::unique_ptr<fabric::endpoint>> made;
std::mutex taking;

class smallest_network final : public fabric::network {
 public:
  [[nodiscard]] const std::string& address() const noexcept override { return address_; }
  [[nodiscard]] std::string version() const override { return "smallest 1"; }
  [[nodiscard]] std::unique_ptr<fabric::network_endpoint> connect(job_rank rank,
                                                                  fabric::address_source addresses,
                                                                  fabric::rank_names) override {
    EXPECT_EQ(addresses(job_rank{1 - rank.value()}), address_);
    const std::lock_guard held(taking);
    return std::unique_ptr<fabric::network_endpoint>(
        dynamic_cast<fabric::network_endpoint*>(made[rank.index()].release()));
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
  board all(2);
  made = fabric::contract::open_smallest(2, false);
  std::vector<std::thread> ranks;
  for (int r = 0; r < 2; ++r) {
    ranks.emplace_back([&all, r] {
      const auto rt = runtime::open(std::make_unique<board_session>(all, r), threading::one,
                                    std::span(&handed_over, 1));
      EXPECT_STREQ(rt->endpoint().name(), "smallest");
      int arrived = 0;
      rt->endpoint().set_handler(
          1,
          [](void* count, const fabric::arrival& m) noexcept {
            *static_cast<int*>(count) += static_cast<int>(m.head.word[0]);
            return status::ok();
          },
          &arrived);
      rt->session().fence();
      EXPECT_TRUE(rt->endpoint().send_short(job_rank{1 - r}, 1, {{7, 0}}, nullptr, 0).done());
      rt->wait_until([](void* count) { return *static_cast<int*>(count) == 7; }, &arrived);
      // They leave together: else the first to end would be taken for dead.
      const int& fences = static_cast<board_session&>(rt->session()).fences;
      const int before = fences;
      rt->leave();
      EXPECT_EQ(fences, before + 1);
    });
  }
  for (std::thread& each : ranks) {
    each.join();
  }
  EXPECT_EQ(all.ended, 2);
}

}  // namespace
}  // namespace sinew::core
