#include <algorithm>
#include <bit>
#include <cstdio>
#include <string>

#include "p2p/state.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/raw_write.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/fabric/corrupt.hpp"

namespace sinew::p2p {
namespace {

setting<std::string> engine_name("match", "engine", std::string(match::engine_names().front()), "",
                                 "how messages are paired with receives (table: without wildcards)",
                                 match::engine_choices(), setting_use::each_use);

setting<bool> statistics("match", "stats", false, "",
                         "each rank says at its end what matching has cost", {},
                         setting_use::each_use);

std::string name_of_rank(comm_rank r) {
  return r == any_source ? "any source" : "rank " + to_string(r);
}
std::string name_of_tag(message_tag t) { return t == any_tag ? "any tag" : "tag " + to_string(t); }

/// Collects up to a few lines per channel; what is beyond is counted.
struct listing {
  static constexpr int most = 8;
  std::string text;
  int seen = 0;
  /// The collective that this rank is in, by its number; -1: no collectives are listed, or none.
  bool collectives = false;
  std::int64_t call = -1;

  void add(const std::string& line) {
    if (++seen <= most) {
      text += "\n    " + line;
    }
  }
  void receive(const match::envelope& e) {
    add(collectives ? "waits for " + name_of_rank(e.source)
                    : "receive from " + name_of_rank(e.source) + ", " + name_of_tag(e.tag));
  }
  void message(const match::envelope& e) {
    add(!collectives ? "unexpected from " + name_of_rank(e.source) + ", " + name_of_tag(e.tag)
        : e.tag.value() == call
            ? "has heard of " + name_of_rank(e.source)
            : name_of_rank(e.source) + " is in another collective call, number " +
                  std::to_string(e.tag.value() + 1));
  }
  void end() {
    if (seen > most) {
      text += "\n    and " + std::to_string(seen - most) + " more";
    }
  }
};

}  // namespace

channel& engine::state::channel_of(std::uint32_t context) {
  SINEW_EXPECT(context < pages * page_contexts);
  const std::size_t p = context / page_contexts;
  if (page* at = directory[p].load(std::memory_order_acquire); at != nullptr) [[likely]] {
    if (auto* c = (*at)[context % page_contexts].load(std::memory_order_acquire); c != nullptr)
        [[likely]] {
      return *c;
    }
  }
  base::guard held(channels_lock, threaded);
  page* at = directory[p].load(std::memory_order_relaxed);
  if (at == nullptr) {
    at = new page();  // the directory's from here on
    directory[p].store(at, std::memory_order_release);
  }
  auto& slot = (*at)[context % page_contexts];
  if (auto* c = slot.load(std::memory_order_relaxed); c != nullptr) {
    return *c;
  }
  auto fresh = std::make_unique<channel>(context, engine_name());
  slot.store(fresh.get(), std::memory_order_release);
  return *fresh.release();
}

channel& engine::state::channel_of(const fabric::arrival& a) {
  const std::uint64_t context = a.head.word[0];
  if (context >= pages * page_contexts || envelope_in(a.head).source < 0) [[unlikely]] {
    fabric::corrupt_peer(a.source, "a message names a communicator or a rank that cannot be",
                         context);
  }
  return channel_of(static_cast<std::uint32_t>(context));
}

bool engine::state::drop_channel(std::uint32_t context) {
  SINEW_EXPECT(context < pages * page_contexts);
  base::guard held(channels_lock, threaded);
  latest_context.store(no_context, std::memory_order_relaxed);
  page* at = directory[context / page_contexts].load(std::memory_order_relaxed);
  if (at == nullptr) {
    return true;
  }
  auto& slot = (*at)[context % page_contexts];
  channel* const gone = slot.load(std::memory_order_relaxed);
  if (gone == nullptr) {
    return true;
  }
  gone->comm = nullptr;
  if (gone->revoked.load(std::memory_order_relaxed)) {
    return false;  // words about that may still be under way
  }
  if (gone->matcher.posted() != 0 || (gone->away != nullptr && gone->away->posted() != 0)) {
    return false;  // their requests have been freed: they wait for their messages until the end
  }
  SINEW_ASSERT(held_head.word[0] != context);  // a receive that is held back would be lost
  stop_matching(*gone);
  slot.store(nullptr, std::memory_order_release);
  past[kind_of(context)] += gone->matcher.counts();
  delete gone;
  return true;
}

void engine::state::report_statistics() {
  if (!statistics()) {
    return;
  }
  base::guard held(channels_lock, threaded);
  std::array<match::search_counts, 2> sums = past;
  for (std::size_t p = 0; p < pages; ++p) {
    page* at = directory[p].load(std::memory_order_relaxed);
    for (std::size_t c = 0; at != nullptr && c < page_contexts; ++c) {
      channel* in = (*at)[c].load(std::memory_order_relaxed);
      if (in == nullptr) {
        continue;
      }
      sums[kind_of(in->context)] += in->matcher.counts();
    }
  }
  std::string text;
  for (std::size_t kind : {0, 1}) {
    const match::search_counts& c = sums[kind];
    const auto searches = static_cast<double>(std::max<std::uint64_t>(c.searches, 1));
    char mean[32];
    std::snprintf(mean, sizeof mean, "%.2f", static_cast<double>(c.examined) / searches);
    text += "sinew: rank " + to_string(rt.rank()) + ": matching of " +
            (kind == 0 ? "messages" : "collectives") + " by " + engine_name() + ": " +
            std::to_string(c.searches) + " searches, " + mean + " entries examined on average, " +
            std::to_string(c.longest) + " at most; at most " + std::to_string(c.most_posted) +
            " receives posted, " + std::to_string(c.most_unexpected) + " messages unexpected\n";
  }
  std::fwrite(text.data(), 1, text.size(), stderr);
}

match_report engine::matching(const core::communicator& comm) {
  const channel& in = messages_of(comm);
  const auto& m = in.matcher;
  const std::size_t away = in.away != nullptr ? in.away->posted() : 0;
  return {m.name(), m.counts(), m.posted() + away, m.unexpected()};
}

void engine::match_by(core::communicator& comm, std::string_view name) {
  channel& in = messages_of(comm);
  if (in.matcher.name() == name) {
    return;
  }
  if (state_->held_head.word[0] == in.context) {
    state_->post_held_back();
  }
  in.matcher.replace_by(match::make_engine(name));
}

void engine::promise_exact_length(core::communicator& comm, bool promised) {
  messages_of(comm).exact_length.store(promised, std::memory_order_relaxed);
}

void engine::attach(core::communicator& comm) {
  const std::uint32_t context = comm.context().value();
  SINEW_CHECK(
      context < state::first_partitioned,
      "cannot create communicator " + std::to_string(context / 2),
      "there are contexts for " + std::to_string(state::first_partitioned / 2) + " at a time",
      "free communicators that are no longer used");
  SINEW_EXPECT(comm.attached.get(messages_slot) == nullptr);
  channel& messages = state_->channel_of(context);
  channel& collectives = state_->channel_of(context + 1);
  SINEW_ASSERT(messages.comm == nullptr && collectives.comm == nullptr);  // else two have it
  state_->forget_old_revocation(messages, comm);
  state_->forget_old_revocation(collectives, comm);
  messages.comm = &comm;
  collectives.comm = &comm;
  state_->let_network_match(messages);
  comm.attached.set(messages_slot, &messages);
  comm.attached.set(collectives_slot, &collectives);
}

void engine::attach_as(core::communicator& comm, const core::communicator& whose) {
  SINEW_EXPECT(comm.context() == whose.context() && messages_of(whose).comm == &whose);
  SINEW_EXPECT(comm.attached.get(messages_slot) == nullptr);
  comm.attached.set(messages_slot, &messages_of(whose));
  messages_of(whose).remote = comm.members();
  comm.attached.set(collectives_slot, &collectives_of(whose));
}

channel& engine::channel_for(const core::communicator& comm, partitioned what) {
  static_assert(state::first_partitioned + state::first_partitioned <= 0xffffffff);
  const core::communicator* const owner = messages_of(comm).comm;
  SINEW_EXPECT(owner != nullptr && owner->context() == comm.context());
  channel& found = state_->channel_of(static_cast<std::uint32_t>(
      state::first_partitioned + comm.context().value() + (what == partitioned::data ? 1U : 0U)));
  base::guard held(state_->channels_lock, state_->threaded);
  SINEW_ASSERT(found.comm == nullptr || found.comm == owner);
  found.comm = owner;
  return found;
}

bool engine::detach(core::communicator& comm) {
  SINEW_EXPECT(messages_of(comm).comm == &comm && collectives_of(comm).comm == &comm);
  bool empty = true;
  for (const std::uint32_t from : {0U, static_cast<std::uint32_t>(state::first_partitioned)}) {
    for (const std::uint32_t which : {0U, 1U}) {
      empty = state_->drop_channel(from + comm.context().value() + which) && empty;
    }
  }
  comm.attached.clear(messages_slot);
  comm.attached.clear(collectives_slot);
  return empty;
}

/// What one channel waits for and what has come, "" if there is nothing to say.
std::string engine::state::describe(channel& in) {
  const base::guard shared(tags_lock, in.away != nullptr);
  const bool collectives = kind_of(in.context) != 0;
  const bool partitioned = in.context >= first_partitioned;
  const auto held = in.matcher.gathered();
  const match::engine& all = held.all();
  const core::communicator* const comm = in.comm;
  const core::collective_call now =
      collectives && comm != nullptr ? comm->collective.load() : core::collective_call{};
  const std::size_t away = in.away != nullptr ? in.away->posted() : 0;
  if (all.posted() + all.unexpected() + away == 0 && now.name == nullptr) {
    return "";
  }
  std::string text =
      std::string("\n  ") +
      (collectives   ? "collectives"
       : partitioned ? "partitioned messages"
                     : "messages") +
      " of communicator " +
      (comm != nullptr && !comm->name.empty() ? comm->name
                                              : std::to_string(in.context % first_partitioned / 2));
  listing waiting;
  waiting.collectives = collectives;
  if (!collectives) {
    text += ": " + std::to_string(all.posted() + away) + " receives posted, " +
            std::to_string(all.unexpected()) + " messages unexpected";
  } else if (now.name == nullptr) {
    text += ": this rank is in none";
  } else {
    text += std::string(": in ") + now.name +
            (now.root < 0 ? "" : ", root " + to_string(now.root)) + " (call number " +
            std::to_string(comm->collective_count) + ")";
    waiting.call = (comm->collective_count - 1) % core::collective_tags;
  }
  listing stored = waiting;
  if (now.awaited >= 0) {
    waiting.add("waits for " + name_of_rank(now.awaited));
  }
  const auto list = [](void* l, const match::receive& r) {
    static_cast<listing*>(l)->receive(r.wanted);
  };
  all.each_receive(list, &waiting);
  if (in.away != nullptr) {
    in.away->each_receive(list, &waiting);
  }
  all.each_message(
      [](void* l, const match::message& m) { static_cast<listing*>(l)->message(m.sent); }, &stored);
  waiting.end();
  stored.end();
  return text + waiting.text + stored.text;
}

/// Who probes, and who has probed last and found nothing.
std::string engine::state::describe_probes() {
  const auto line = [](const char* what, const channel& in, const match::envelope& e) {
    return std::string("\n  ") + what + " from " + name_of_rank(e.source) + ", " +
           name_of_tag(e.tag) + ", communicator " +
           (in.comm != nullptr && !in.comm->name.empty() ? in.comm->name
                                                         : std::to_string(in.context / 2));
  };
  std::string text;
  {
    const base::guard held(probes_lock, threaded);
    for (const probe* p = probes; p != nullptr; p = p->next) {
      text += line("probe", p->in, p->wanted);
    }
  }
  const std::uint32_t context = probed_in.load(std::memory_order_relaxed);
  const page* const at = context == no_context
                             ? nullptr
                             : directory[context / page_contexts].load(std::memory_order_acquire);
  if (text.empty() && at != nullptr) {
    // Its channel may be gone by now.
    const channel* const in = (*at)[context % page_contexts].load(std::memory_order_acquire);
    if (in != nullptr) {
      text = line("last probe without success", *in,
                  std::bit_cast<match::envelope>(probed_for.load(std::memory_order_relaxed)));
    }
  }
  return text;
}

void engine::state::diagnose() {
  if (held_head.word[0] != no_context) {
    post_held_back();
  }
  std::string text;
  for (std::size_t c = 0; c < pages * page_contexts; ++c) {
    page* at = directory[c / page_contexts].load(std::memory_order_acquire);
    if (at == nullptr) {
      c += page_contexts - 1;
      continue;
    }
    channel* in = (*at)[c % page_contexts].load(std::memory_order_acquire);
    if (in != nullptr) {
      text += describe(*in);
    }
  }
  text += describe_probes();
  peers.each([&](std::size_t rank, const peer_state& peer) {
    base::guard held(flow_lock, threaded);
    if (peer.rts_pending != 0) {
      text += "\n  sends to rank " + std::to_string(rank) +
              " whose receive has not been posted: " + std::to_string(peer.rts_pending);
    }
    if (peer.backlog != nullptr) {
      text +=
          "\n  sends to rank " + std::to_string(rank) + " that find no room: it makes no progress";
    }
  });
  if (text.empty()) {
    text = " no message, probe or collective is under way.";
  }
  base::raw_write(2, "sinew: rank " + to_string(rt.rank()) + ", messages:" + text + "\n");
}

}  // namespace sinew::p2p
