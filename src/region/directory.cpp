// SPDX-License-Identifier: BSD-3-Clause
#include "region/directory.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "sinew/base/check.hpp"

namespace sinew::region {

using sinew::event::event;
using sinew::event::user_event;

event directory::ask(instance i) {
  const instance base = all_.table.base_of(i);
  user_event answered;
  {
    const base::guard held(lock_, threaded_);
    if (closed_) {
      return {};
    }
    const auto [at, is_new] = questions_.try_emplace(base.bits());
    if (!is_new && !all_.events.has_triggered(at->second.answered)) {
      return at->second.answered;
    }
    answered = all_.events.create();
    at->second = {answered, {}};
  }
  all_.events.entrust(answered, base.creator());
  all_.messages.ask(base.creator(), base);
  return answered;
}

event directory::ask_all(std::span<const instance> list) {
  std::vector<event> answers;
  for (const instance i : list) {
    if (!all_.table.knows(i)) {
      answers.push_back(ask(i));
    }
  }
  return all_.events.settled(answers);
}

void directory::in_order(instance i, std::function<void()> work) {
  {
    const base::guard held(lock_, threaded_);
    const auto [at, is_new] = waiting_.try_emplace(i.bits());
    at->second.push_back(std::move(work));
    if (!is_new) {
      return;
    }
  }
  const std::array<instance, 1> one{i};
  once_known(one, [this, i] {
    for (;;) {
      std::vector<std::function<void()>> now;
      {
        const base::guard held(lock_, threaded_);
        const auto found = waiting_.find(i.bits());
        SINEW_ASSERT(found != waiting_.end());
        if (found->second.empty()) {
          waiting_.erase(found);
          return;
        }
        now.swap(found->second);
      }
      for (const auto& next : now) {
        next();
      }
    }
  });
}

void directory::close() {
  std::unordered_map<std::uint64_t, question> open;
  {
    const base::guard held(lock_, threaded_);
    closed_ = true;
    open.swap(questions_);
  }
  for (const auto& [bits, q] : open) {
    (void)all_.events.cancel(q.answered);
  }
}

void directory::on_ask(job_rank who, instance i) {
  // With the lock: what is destroyed meanwhile is told to be gone after it is told here.
  const base::guard held(lock_, threaded_);
  const std::vector<std::byte> record = all_.table.copy_of(i);
  if (!record.empty()) {
    std::vector<job_rank>& those = told_[i.bits()];
    if (std::find(those.begin(), those.end(), who) == those.end()) {
      those.push_back(who);
    }
  }
  all_.messages.tell(who, i, record);
}

void directory::retired(instance i) {
  if (all_.table.one_node()) {
    return;
  }
  const base::guard held(lock_, threaded_);
  const auto those = told_.find(i.bits());
  if (those == told_.end()) {
    return;
  }
  for (const job_rank who : those->second) {
    all_.messages.forget(who, i);
  }
  told_.erase(those);
}

void directory::on_record(const record_piece& p, const std::byte* bytes, std::size_t size) {
  const instance i = instance::from_bits(p.id);
  user_event answered;
  {
    const base::guard held(lock_, threaded_);
    const auto found = questions_.find(p.id);
    if (found == questions_.end()) {
      return;  // the creator was given up as lost
    }
    question& q = found->second;
    if (p.total != 0) {
      SINEW_ASSERT(p.total >= sizeof(record) && p.first + size <= p.total);
      if (q.record == nullptr) {
        q.record = std::shared_ptr<std::byte[]>(new std::byte[p.total]);
      }
      std::memcpy(q.record.get() + p.first, bytes, size);
      if (p.first + size < p.total) {
        return;
      }
      all_.table.learn(i, std::move(q.record));
    }
    answered = q.answered;
    questions_.erase(found);
  }
  all_.events.trigger(answered);
}

}  // namespace sinew::region
