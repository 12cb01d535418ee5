// SPDX-License-Identifier: BSD-3-Clause
// What a rank says that is asked why nothing goes on.
#include <string>
#include <vector>

#include "p2p/describe.hpp"
#include "p2p/state.hpp"
#include "sinew/base/raw_write.hpp"

namespace sinew::p2p {
namespace {

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

/// What one channel waits for and what has come, "" if there is nothing to say.
std::string describe(channel& in, network_matching& network) {
  const base::guard still = network.hold(in);
  const bool collectives = channel_table::kind_of(in.context) != 0;
  const bool partitioned = in.context >= channel_table::first_partitioned;
  const auto held = in.matcher.gathered();
  const match::engine& all = held.all();
  const core::communicator* const comm = in.comm;
  const core::collective_call now =
      collectives && comm != nullptr ? comm->collective.load() : core::collective_call{};
  const std::size_t away = in.away != nullptr ? in.away->posted() : 0;
  if (all.posted() + all.unexpected() + away == 0 && now.name == nullptr) {
    return "";
  }
  std::string text = std::string("\n  ") +
                     (collectives   ? "collectives"
                      : partitioned ? "partitioned messages"
                                    : "messages") +
                     " of " + name_of(in);
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

}  // namespace

std::vector<unread> engine::unread_messages() {
  std::vector<unread> found;
  state_->channels.each([&](channel& in) {
    if (channel_table::kind_of(in.context) != 0 || in.context >= channel_table::first_partitioned) {
      return;
    }
    struct listing {
      std::vector<unread>& found;
      const core::communicator* comm;
    } to{found, in.comm};
    const base::guard still = state_->network.hold(in);
    const auto held = in.matcher.gathered();
    held.all().each_message(
        [](void* l, const match::message& m) {
          auto& [all, comm] = *static_cast<listing*>(l);
          all.push_back({comm, m.sent, static_cast<const matched&>(m).bytes});
        },
        &to);
  });
  return found;
}

void engine::state::diagnose() {
  receives.post_held_back();
  std::string text;
  channels.each([&](channel& in) { text += describe(in, network); });
  text += probes.describe();
  text += waiting.describe();
  if (text.empty()) {
    text = " no message, probe or collective is under way.";
  }
  base::raw_write(2, "sinew: rank " + to_string(rt.rank()) + ", messages:" + text + "\n");
}

}  // namespace sinew::p2p
