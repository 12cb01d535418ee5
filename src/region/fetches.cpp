// SPDX-License-Identifier: BSD-3-Clause
#include "region/fetches.hpp"

#include <memory>

#include "sinew/base/check.hpp"

namespace sinew::region {

fetches::fetches(sinew::event::system& events, instance_table& table, courier& messages,
                 bool threaded)
    : endpoint_(events.runtime().endpoint()),
      runtime_(events.runtime()),
      table_(table),
      messages_(messages),
      threaded_(threaded),
      chore_(runtime_.add_chore(
          [](void* self) { return static_cast<fetches*>(self)->start_waiting(); }, this)) {}

/// Their senders have waited for all.
fetches::~fetches() {
  SINEW_EXPECT(waiting_.empty());
  runtime_.drop_chore(chore_);
}

void fetches::begin(job_rank sender, const fetch_piece& f) {
  SINEW_EXPECT(f.address != 0 && f.bytes != 0);
  auto one = std::make_unique<fetch>(fetch{this, sender, f});
  if (start(one.get())) {
    (void)one.release();
    return;
  }
  const base::guard held(lock_, threaded_);
  waiting_.push_back(one.get());
  (void)one.release();
  runtime_.want_chore(chore_, true);
}

/// Whether it is under way, or over.
bool fetches::start(fetch* f) {
  std::byte* const to = f->what.kind == memory_kind::heap
                            ? reinterpret_cast<std::byte*>(f->what.address)
                            : table_.heaps().at(table_.rank(), f->what.address);
  const status s = endpoint_.get(
      f->from, to, {f->what.source, f->what.key}, f->what.bytes,
      {[](void* of) noexcept { static_cast<fetch*>(of)->home->end(static_cast<fetch*>(of)); }, f});
  if (s.done()) {
    end(f);
  }
  return !s.retry();
}

void fetches::end(fetch* f) {
  const std::unique_ptr<fetch> one(f);
  messages_.answer(one->from, one->what.stream, true);
}

int fetches::start_waiting() {
  for (int started = 0;; ++started) {
    fetch* next = nullptr;
    {
      const base::guard held(lock_, threaded_);
      if (waiting_.empty()) {
        runtime_.want_chore(chore_, false);
        return started;
      }
      next = waiting_.front();
      waiting_.pop_front();
    }
    if (!start(next)) {
      const base::guard held(lock_, threaded_);
      waiting_.push_front(next);
      return started;
    }
  }
}

}  // namespace sinew::region
