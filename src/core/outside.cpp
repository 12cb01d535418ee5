// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/core/outside.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/nodes.hpp"
#include "core/runtime_impl.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/last_words.hpp"
#include "sinew/base/random.hpp"

namespace sinew::core {
namespace {

/// Rounds of progress between two looks at the network, at most: a look costs a system call.
constexpr unsigned most_rounds = 16;

constexpr std::size_t longest_address = 64 << 10;

std::uint64_t hash_of(std::string_view text) noexcept {
  std::uint64_t h = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : text) {
    h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return h;
}

/// Not 0.
std::uint64_t name_of(const resident& who) noexcept {
  std::uint64_t state = who.job ^ (static_cast<std::uint64_t>(who.rank.value()) << 32 | who.tenant);
  const std::uint64_t name = split_mix(state);
  return name != 0 ? name : 1;
}

template <class T>
void append_word(std::string& to, T word) {
  char bytes[sizeof word];
  std::memcpy(bytes, &word, sizeof word);
  to.append(bytes, sizeof bytes);
}

template <class T>
bool take_word(std::string_view& text, T& word) {
  if (text.size() < sizeof word) {
    return false;
  }
  std::memcpy(&word, text.data(), sizeof word);
  text.remove_prefix(sizeof word);
  return true;
}

}  // namespace

void append(std::string& to, const resident& who) {
  append_word(to, who.job);
  append_word(to, who.rank.value());
  append_word(to, who.tenant);
  append_word(to, static_cast<std::uint32_t>(who.address.size()));
  to += who.address;
}

std::optional<resident> take_resident(std::string_view& text) {
  resident who;
  std::int32_t rank = -1;
  std::uint32_t bytes = 0;
  if (!take_word(text, who.job) || !take_word(text, rank) || !take_word(text, who.tenant) ||
      !take_word(text, bytes) || rank < 0 || bytes > longest_address || bytes > text.size()) {
    return std::nullopt;
  }
  who.rank = job_rank{rank};
  who.address = text.substr(0, bytes);
  text.remove_prefix(bytes);
  return who;
}

std::uint64_t name_of_job(runtime& rt) {
  const boot::place& at = rt.session().where();
  if (at.launcher != "alone") {
    return hash_of(at.launcher + " " + at.job);
  }
  static const std::uint64_t own = unpredictable_word();  // its pid may be another one's elsewhere
  return own;
}

std::uint32_t own_tenant(runtime& rt) noexcept {
  const boot::place& at = rt.session().where();
  for (std::size_t i = 0; i < at.spawning.fellows.size(); ++i) {
    if (at.spawning.fellows[i] == at.rank) {
      return at.spawning.tenants[i];
    }
  }
  return 0;
}

outside* outside::of(runtime& rt) noexcept { return runtime::impl::of(rt).others(); }

bool runtime::impl::prepare_sleep(outside& met) { return met.may_sleep(); }

outside::outside(runtime& rt, user by) : rt_(rt), user_(by), first_(rt.reach()) {
  SINEW_EXPECT(by.lost != nullptr && by.forget != nullptr);
  const boot::place& here = rt.session().where();
  network_ = open_network(runtime::impl::of(rt).back_ends(),
                          {.ranks = first_ + room, .threads = rt.threaded()});
  self_ = {name_of_job(rt), here.rank, own_tenant(rt), network_->address()};
  entries_.resize(room);
  for (int i = room; i-- > 0;) {
    free_.emplace_back(first_ + i);
  }
  endpoint_ = network_->connect(
      here.rank, [this](job_rank number) { return address_of(number); },
      {name_of(self_), [this](std::uint64_t name) { return number_of_name(name); },
       [this](job_rank number) { note_lost(number); }});
  watch_ = fabric::watch_sleep(rt.endpoint(), *endpoint_);
}

outside::~outside() = default;

void outside::begin() {
  SINEW_EXPECT(of(rt_) == nullptr);
  runtime::impl::of(rt_).set_others(*this);
  const int which =
      rt_.add_chore([](void* self) { return static_cast<outside*>(self)->progress(); }, this);
  rt_.want_chore(which, true);
}

outside::entry& outside::at(job_rank number) {
  SINEW_EXPECT(number.value() >= first_ && number.below(first_ + room));
  return entries_[number.index() - static_cast<std::size_t>(first_)];
}

/// Under the lock; no_job_rank if there is none.
job_rank outside::take_number(std::uint64_t name) {
  SINEW_EXPECT(name != 0 && !numbers_.contains(name));
  if (free_.empty()) {
    return no_job_rank;
  }
  const job_rank number = free_.back();
  numbers_.emplace(name, number);
  free_.pop_back();
  at(number) = {};
  at(number).name = name;
  return number;
}

/// Of who has sent a message: this rank may not have been told of it yet.
job_rank outside::number_of_name(std::uint64_t name) {
  const std::lock_guard held(lock_);
  if (const auto known = numbers_.find(name); known != numbers_.end()) {
    return known->second;
  }
  const job_rank number = name != 0 ? take_number(name) : no_job_rank;
  if (number == no_job_rank) {
    base::last_words()
        .add(
            "sinew: warning: a message of another job is dropped: this rank has no number left "
            "for its sender.\n")
        .write();
  }
  return number;
}

job_rank outside::number_of(const resident& who) {
  if (who.job == self_.job) {
    SINEW_CHECK(who.rank.below(first_), "a rank of this job is unknown here",
                "it is number " + to_string(who.rank), "");
    return who.rank;
  }
  SINEW_CHECK(!who.address.empty(), "a rank of another job cannot be reached",
              "it has told no address", "install Sinew with UCX on its node, too");
  const std::lock_guard held(lock_);
  const std::uint64_t name = name_of(who);
  const auto known = numbers_.find(name);
  const job_rank number = known != numbers_.end() ? known->second : take_number(name);
  SINEW_CHECK(number != no_job_rank, "no more ranks of other jobs can be met",
              "this rank is connected to " + std::to_string(room) + " already",
              "call MPI_Comm_disconnect for communicators that are no longer used");
  entry& e = at(number);
  SINEW_ASSERT(e.name == name);
  e.who = who;
  return number;
}

/// Empty as long as this rank has not been told.
std::string outside::address_of(job_rank number) {
  const std::lock_guard held(lock_);
  return at(number).who.address;
}

resident outside::who_is(job_rank number) {
  const std::lock_guard held(lock_);
  const entry& e = at(number);
  SINEW_CHECK(e.name != 0 && !e.who.address.empty(), "a rank of another job cannot be reached",
              "this rank has not been told its address", "");
  return e.who;
}

void outside::hold(job_rank number) {
  {
    const std::lock_guard held(lock_);
    if (++at(number).holders > 1) {
      return;
    }
  }
  endpoint_->open_way(number);  // not under the lock, which is inside of the endpoint's
}

void outside::let_go(job_rank number) noexcept {
  const std::lock_guard held(lock_);
  entry& e = at(number);
  SINEW_EXPECT(e.holders > 0);
  if (--e.holders == 0 && e.lost) {
    may_forget_.store(true, std::memory_order_relaxed);
  }
}

void outside::note_lost(job_rank number) {
  {
    const std::lock_guard held(lock_);
    entry& e = at(number);
    SINEW_EXPECT(e.name != 0);
    e.lost = true;
  }
  user_.lost(user_.context, number);
  losses_.fetch_add(1, std::memory_order_relaxed);
  may_forget_.store(true, std::memory_order_relaxed);
}

/// Those that have ended and are no communicator's member: their numbers are free again.
void outside::forget_lost() {
  may_forget_.store(false, std::memory_order_relaxed);
  std::vector<job_rank> due;
  {
    const std::lock_guard held(lock_);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].lost && entries_[i].holders == 0) {
        due.push_back(job_rank{first_ + static_cast<int>(i)});
      }
    }
  }
  for (const job_rank each : due) {
    if (!user_.forget(user_.context, each)) {
      continue;  // once more after the next one
    }
    endpoint_->forget(each);
    const std::lock_guard held(lock_);
    numbers_.erase(at(each).name);
    at(each) = {};
    free_.push_back(each);
  }
}

/// Every round while something comes, seldom while nothing does.
int outside::progress() {
  if (++round_ < rounds_) {
    return 0;
  }
  round_ = 0;
  constexpr int budget = 64;
  const int happened = endpoint_->progress(budget);
  rounds_ = happened != 0 ? 1 : std::min(2 * rounds_, most_rounds);
  if (may_forget_.load(std::memory_order_relaxed)) {
    forget_lost();
  }
  return happened;
}

bool outside::may_sleep() {
  rounds_ = 1;
  return watch_->prepare();
}

void outside::leave() { endpoint_->leave(); }

}  // namespace sinew::core
