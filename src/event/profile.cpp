// SPDX-License-Identifier: BSD-3-Clause
// Responses travel as messages to the rank that has begun the operation, and wait there.
#include "sinew/event/profile.hpp"

#include <cstring>
#include <deque>
#include <type_traits>
#include <utility>

#include "event/filled.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/event/system.hpp"

namespace sinew::event {
namespace {

static_assert(std::is_trivially_copyable_v<profile>, "responses travel as bytes");

struct wish {
  bool wanted = false;
  std::uint64_t tag = 0;
};
thread_local wish now_wanted;

}  // namespace

struct profiler::body {
  explicit body(system& of) : s(of) {}

  void receive(const message& m) {
    SINEW_EXPECT(m.size == sizeof(profile));
    user_event wake;
    {
      const base::guard held(lock, s.runtime().threaded());
      std::memcpy(&come.emplace_back(), m.data, sizeof(profile));
      wake = std::exchange(filled, {});
    }
    if (wake.exists()) {
      s.trigger(wake);
    }
  }

  system& s;
  base::lock lock;  ///< guards what follows; never held while the system is called
  std::deque<profile> come;
  user_event filled;  ///< what filled() returned and has not triggered
};

profiler::profiler(system& s) : body_(std::make_unique<body>(s)) {
  s.set_handler(
      topic::profile, [](void* self, const message& m) { static_cast<body*>(self)->receive(m); },
      body_.get());
}

profiler::~profiler() {
  body_->s.set_handler(topic::profile, [](void*, const message&) {}, nullptr);
}

std::size_t profiler::pop(std::span<profile> out) {
  const base::guard held(body_->lock, body_->s.runtime().threaded());
  std::size_t n = 0;
  for (; n < out.size() && !body_->come.empty(); ++n) {
    out[n] = body_->come.front();
    body_->come.pop_front();
  }
  SINEW_ENSURE(n <= out.size());
  return n;
}

event profiler::filled() {
  return when_filled(body_->s, body_->lock, body_->filled, [this] { return body_->come.empty(); });
}

profiled::profiled(profiler& /*by*/, std::uint64_t tag) noexcept
    : before_{now_wanted.wanted ? 1u : 0u, now_wanted.tag} {
  now_wanted = {true, tag};
}

profiled::~profiled() { now_wanted = {before_[0] != 0, before_[1]}; }

void profile_request::is_ready() noexcept { ready_ns = now_ns(); }
void profile_request::has_started() noexcept { started_ns = now_ns(); }

bool profile_is_wanted() noexcept { return now_wanted.wanted; }

profile_request wanted_profile(event done) noexcept {
  SINEW_EXPECT(!now_wanted.wanted || done.exists());
  return now_wanted.wanted ? profile_request{done.bits(), now_wanted.tag} : profile_request{};
}

void respond(system& s, const profile_request& to, performed kind, moved_by way, bool well) {
  SINEW_EXPECT(to.wanted());
  profile p;
  p.what = event::from_bits(to.reply);
  p.tag = to.tag;
  p.ready_ns = to.ready_ns;
  p.started_ns = to.started_ns;
  p.ended_ns = to.started_ns != 0 ? now_ns() : 0;
  p.where = s.rank();
  p.kind = kind;
  p.way = well ? way : moved_by::not_moved;
  p.poisoned = !well;
  s.send(p.what.owner(), topic::profile, 0, 0, &p, sizeof p);
}

}  // namespace sinew::event
