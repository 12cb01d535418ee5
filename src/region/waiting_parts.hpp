// Parts of instances for which there is no memory yet, at the rank that owns it, and the memory
// that has been promised: that of instances whose destruction waits for an event. Pure.
//
// A part that does not fit waits if it fits into what is free and what is promised, less what
// others before it wait for. They get memory in the order in which they came. When nothing is
// promised any more they fail. Later ones take what is free only if enough is left or promised for
// all that wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>

#include "region/messages.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"

namespace sinew::region {

/// Of one kind of memory of this rank. Not locked.
class waiting_parts {
 public:
  struct request {
    job_rank creator;
    allocation what;
  };

  /// Some rank will give so many bytes back, or say that it will not.
  void promise(job_rank by, std::uint64_t bytes) {
    total& t = promised_[by.value()];
    ++t.count;
    t.bytes += bytes;
    bytes_ += bytes;
  }
  /// It has, or it will not. Of a rank that is lost all are settled: then this does nothing.
  void settle(job_rank by, std::uint64_t bytes) {
    const auto found = promised_.find(by.value());
    if (found == promised_.end()) {
      return;
    }
    SINEW_EXPECT(found->second.count != 0 && found->second.bytes >= bytes);
    bytes_ -= bytes;
    found->second.bytes -= bytes;
    if (--found->second.count == 0) {
      promised_.erase(found);
    }
  }
  void lose(job_rank rank) {
    const auto found = promised_.find(rank.value());
    if (found != promised_.end()) {
      bytes_ -= found->second.bytes;
      promised_.erase(found);
    }
  }
  [[nodiscard]] bool any_promised() const noexcept { return !promised_.empty(); }

  [[nodiscard]] bool empty() const noexcept { return queue_.empty(); }
  /// Whether those that wait could still get theirs if somebody else took `bytes` of the free ones.
  [[nodiscard]] bool may_pass(std::uint64_t bytes, std::uint64_t free) const noexcept {
    return queue_.empty() || (bytes <= free && wanted_ <= free - bytes + bytes_);
  }
  /// Whether there will be room if all promises are kept.
  [[nodiscard]] bool may_wait(std::uint64_t bytes, std::uint64_t free) const noexcept {
    return any_promised() && wanted_ + bytes <= free + bytes_;
  }
  void wait(const request& r) {
    wanted_ += r.what.bytes;
    queue_.push_back(r);
  }
  [[nodiscard]] const request& first() const noexcept { return queue_.front(); }
  void drop_first() {
    wanted_ -= queue_.front().what.bytes;
    queue_.pop_front();
  }

 private:
  struct total {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
  };
  std::unordered_map<int, total> promised_;  ///< by rank
  std::uint64_t bytes_ = 0;                  ///< of all promised
  std::deque<request> queue_;
  std::uint64_t wanted_ = 0;  ///< by all in it
};

}  // namespace sinew::region
