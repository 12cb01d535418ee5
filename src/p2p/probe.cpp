// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/probe.hpp"

#include <bit>
#include <exception>

#include "p2p/channels.hpp"
#include "p2p/describe.hpp"
#include "p2p/failures.hpp"
#include "p2p/state.hpp"
#include "p2p/tagged.hpp"
#include "sinew/base/check.hpp"
#include "sinew/boot/wait_report.hpp"

namespace sinew::p2p {
namespace {

result about(const matched& m) {
  return {m.sent.source, m.sent.tag, m.bytes, m.bytes, fault::none};
}

}  // namespace

prober::prober(const parts& p, bool threaded) noexcept
    : all_(p), threaded_(threaded), vain_in_(channel_table::no_context) {}

/// One search under way. Any thread may look.
struct prober::look {
  prober& by;
  search& what;
  /// An engine may need memory to prepare for wildcards, or refuse them.
  std::exception_ptr failure{};

  bool operator()() noexcept try {
    if (!by.threaded_) {
      return look_in(what.in.matcher.alone());
    }
    if (what.in.away != nullptr) [[unlikely]] {
      by.all_.network.bring(what.in);
    }
    auto held = what.in.matcher.enter(what.wanted);
    return look_in(held);
  } catch (...) {
    failure = std::current_exception();
    return true;
  }
  /// Throws, in the thread that searches, what was met while looking.
  void check() const {
    if (failure) [[unlikely]] {
      std::rethrow_exception(failure);
    }
  }

 private:
  template <class Where>
  bool look_in(Where& where) {
    auto* m = static_cast<matched*>(what.take ? where.take(what.wanted) : where.peek(what.wanted));
    if (m == nullptr && by.all_.failures.any()) [[unlikely]] {
      const fault f = by.all_.failures.fault_of(what.in, what.wanted.source);
      what.seen.source = what.wanted.source;
      what.seen.error = f == fault::peer_failed_pending ? fault::peer_failed : f;
      return what.seen.error != fault::none;
    }
    if (m != nullptr) {
      what.found = m;
      what.seen = about(*m);  // under the lock: without `take`, another thread may receive it next
    }
    return m != nullptr;
  }
};

void prober::wait(search& s) {
  look looks{*this, s};
  if (!looks()) {
    listed entry{s, &looks, nullptr};
    {
      const base::guard held(lock_, threaded_);
      entry.next = waiting_;
      waiting_ = &entry;
    }
    all_.rt.wait_until([](void* l) { return (*static_cast<look*>(l))(); }, &looks);
    const base::guard held(lock_, threaded_);
    listed** at = &waiting_;
    while (*at != &entry) {
      at = &(*at)->next;
    }
    *at = entry.next;
  }
  looks.check();
}

// What had arrived before ends a loop of polls.
bool prober::once(search& s) {
  look looks{*this, s};
  all_.rt.poll();
  const bool any = looks();
  if (any) {
    all_.rt.end_of_polls();
    vain_in_.store(channel_table::no_context, std::memory_order_relaxed);
  } else {
    vain_in_.store(s.in.context, std::memory_order_relaxed);
    vain_for_.store(std::bit_cast<std::uint64_t>(s.wanted), std::memory_order_relaxed);
  }
  looks.check();
  return any;
}

std::string prober::describe() {
  const auto line = [](const char* what, const channel& in, const match::envelope& e) {
    return std::string("\n  ") + what + " from " + name_of_rank(e.source) + ", " +
           name_of_tag(e.tag) + ", of " + name_of(in);
  };
  std::string text;
  {
    const base::guard held(lock_, threaded_);
    for (const listed* p = waiting_; p != nullptr; p = p->next) {
      text += line("probe", p->what.in, p->what.wanted);
    }
  }
  const std::uint32_t context = vain_in_.load(std::memory_order_relaxed);
  if (text.empty() && context != channel_table::no_context) {
    all_.channels.each([&](const channel& in) {
      if (in.context == context) {  // none has, if the communicator is gone by now
        text = line("last probe without success", in,
                    std::bit_cast<match::envelope>(vain_for_.load(std::memory_order_relaxed)));
      }
    });
  }
  return text;
}

bool prober::explain(const void* waited, boot::awaited& what) {
  const base::guard held(lock_, threaded_);
  for (const listed* p = waiting_; p != nullptr; p = p->next) {
    if (p->condition == waited) {
      const channel& in = p->what.in;
      const match::envelope wanted = p->what.wanted;
      what.what = boot::awaited::kind::probe;
      what.communicator = name_of(in);
      what.tag = wanted.tag == any_tag ? -1 : wanted.tag.value();
      if (wanted.source != any_source) {
        what.ranks.push_back(in.sources()[wanted.source].value());
      }
      return true;
    }
  }
  return false;
}

std::optional<result> engine::iprobe(const core::communicator& /*comm*/, channel& in,
                                     comm_rank source, message_tag tag) {
  if (source == no_rank) {
    return result{};
  }
  prober::search s{in, {source, tag}, false};
  return state_->probes.once(s) ? std::optional(s.seen) : std::nullopt;
}

result engine::probe(const core::communicator& /*comm*/, channel& in, comm_rank source,
                     message_tag tag) {
  if (source == no_rank) {
    return {};
  }
  prober::search s{in, {source, tag}, false};
  state_->probes.wait(s);
  return s.seen;
}

matched* engine::improbe(const core::communicator& /*comm*/, channel& in, comm_rank source,
                         message_tag tag, result& found) {
  prober::search s{in, {source, tag}, true};
  (void)state_->probes.once(s);
  found = s.seen;
  return s.found;
}

matched* engine::mprobe(const core::communicator& /*comm*/, channel& in, comm_rank source,
                        message_tag tag, result& found) {
  prober::search s{in, {source, tag}, true};
  state_->probes.wait(s);
  found = s.seen;
  return s.found;
}

request* engine::imrecv(matched* m, const buffer& into) {
  SINEW_EXPECT(m != nullptr && m->in != nullptr);
  operation* op = state_->operations.make(m->in, into);
  state_->receives.consume(*op, m);
  return op;
}

result engine::mrecv(matched* m, const buffer& into) {
  request* r = imrecv(m, into);
  wait(*r);
  const result ended = r->outcome;
  release(r);
  return ended;
}

}  // namespace sinew::p2p
