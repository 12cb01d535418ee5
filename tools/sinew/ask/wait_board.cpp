// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/ask/wait_board.hpp"

#include <algorithm>

namespace sinew::tool {

void wait_board::ask(int rank, entry& of) {
  if (!std::exchange(of.asked, true)) {
    ask_(rank, turn_);
  }
}

bool wait_board::take(int rank, boot::wait_report told, const std::vector<int>& running) {
  entry& of = ranks_[rank];
  of.last = std::move(told);
  of.asked = false;
  if (of.last.turn < turn_) {  // an older question's
    ask(rank, of);
    return false;
  }
  return judge(running);
}

void wait_board::leave(int rank) {
  ranks_.erase(rank);
  has_left_ = true;
  for (auto& [other, of] : ranks_) {
    of.before.clear();
  }
  begin_round();
}

void wait_board::begin_round() {
  ++turn_;
  for (auto& [rank, of] : ranks_) {
    ask(rank, of);
  }
}

bool wait_board::judge(const std::vector<int>& running) {
  const bool is_over = std::all_of(running.begin(), running.end(), [this](int rank) {
    const auto found = ranks_.find(rank);
    return found != ranks_.end() && found->second.last.turn == turn_;
  });
  if (!is_over || told_ || running.empty()) {
    return false;
  }
  told_ = nothing_is_under_way() && std::all_of(ranks_.begin(), ranks_.end(), [](const auto& each) {
            const entry& of = each.second;
            return !of.before.empty() && of.before == of.last.state;
          });
  for (auto& [rank, of] : ranks_) {
    of.before = of.last.state;
  }
  if (!told_) {
    begin_round();
  }
  return told_;
}

bool wait_board::nothing_is_under_way() const {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  for (const auto& [rank, of] : ranks_) {
    sent += of.last.sent;
    received += of.last.received;
  }
  return has_left_ ? sent == 0 && received == 0 : sent == received;
}

std::set<int> wait_board::ask_again() {
  std::set<int> asked;
  for (auto& [rank, of] : ranks_) {
    ask(rank, of);
    asked.insert(rank);
  }
  return asked;
}

}  // namespace sinew::tool
