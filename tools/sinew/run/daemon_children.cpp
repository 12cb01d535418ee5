// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/daemon_children.hpp"

#include <algorithm>

#include "sinew/base/check.hpp"
#include "sinew/run/host_tree.hpp"

namespace sinew::tool {

daemon_children::daemon_children(event_loop& loop, const host_orders& orders, bool through_agent,
                                 sender up)
    : loop_(loop),
      orders_(orders),
      up_(std::move(up)),
      starter_(
          loop, {orders.agent, through_agent}, orders.hosts.names,
          children_of(orders.parents, orders.node),
          {[this](int node, daemon_line line) { attach(child_of(node), std::move(line)); },
           [this](int node, int code, const std::string& why) { lose(child_of(node), code, why); },
           [this](const std::string& text) { up_(frame_kind::remark, 0, text); }}) {
  for (const int node : children_of(orders.parents, orders.node)) {
    children_.push_back(std::make_unique<child>());
    children_.back()->node = node;
  }
}

daemon_children::child& daemon_children::child_of(int node) {
  const auto found = std::find_if(children_.begin(), children_.end(),
                                  [node](const auto& each) { return each->node == node; });
  SINEW_ASSERT(found != children_.end());
  return **found;
}

void daemon_children::attach(child& to, daemon_line line) {
  SINEW_EXPECT(to.link == nullptr && !to.gone);
  const std::string& name = orders_.hosts.names[static_cast<std::size_t>(to.node)];
  to.link = std::make_unique<frame_link>(
      loop_, std::move(line), frame_link::side::launcher,
      frame_link::events{
          [this, &to](const frame& got) { take(to, got); },
          [this, &to, name](const link_loss& how) { lose(to, 1, daemon_is_lost(name, how)); }});
  host_orders theirs = orders_;
  theirs.node = to.node;
  to.link->send(frame_kind::set_up, 0, pack(theirs));
}

// The launcher looks at what stands in it.
void daemon_children::take(child& from, const frame& got) {
  if (got.kind == frame_kind::beat) {
    return;
  }
  if (!is_of_daemon(got.kind)) {
    return lose(from, 1,
                "the daemon on " + orders_.hosts.names[static_cast<std::size_t>(from.node)] +
                    " sent what only launchers send");
  }
  up_(got.kind, got.rank, got.bytes);
}

void daemon_children::lose(child& which, int code, const std::string& why) {
  if (which.gone) {
    return;
  }
  which.gone = true;
  if (which.link != nullptr) {
    which.link->close();
  }
  up_(frame_kind::lost, which.node, packer().number(code).text(why).bytes());
}

void daemon_children::pass_to_all(const frame& got) {
  if (got.kind == frame_kind::finish) {
    finishing_ = true;
    starter_.give_up();
  }
  for (const auto& each : children_) {
    if (each->link != nullptr) {
      each->link->send(got.kind, got.rank, got.bytes);
    } else if (finishing_) {
      each->gone = true;
    }
  }
}

void daemon_children::pass_on(const frame& got) {
  const bool of_node = got.kind == frame_kind::output_taken || got.kind == frame_kind::ask_clock;
  const std::size_t limit = of_node ? orders_.parents.size() : orders_.hosts.node_of.size();
  if (static_cast<std::size_t>(got.rank) >= limit) {
    return;
  }
  const int towards = child_towards(orders_.parents, orders_.node,
                                    of_node ? got.rank : orders_.hosts.node(got.rank));
  if (towards != launcher_node && child_of(towards).link != nullptr) {
    child_of(towards).link->send(got.kind, got.rank, got.bytes);
  }
}

void daemon_children::look_after(std::int64_t now) {
  const std::int64_t limit_ns = orders_.host_timeout_ms * 1'000'000;
  starter_.look_after(now);
  for (const auto& each : children_) {
    if (each->link == nullptr || !each->link->open()) {
      continue;
    }
    each->link->send(frame_kind::beat);
    if (limit_ns != 0 && now - each->link->heard_ns() > limit_ns) {
      lose(*each, 1,
           nothing_is_heard(orders_.hosts.names[static_cast<std::size_t>(each->node)], limit_ns));
    }
  }
}

void daemon_children::forgive_silence() {
  for (const auto& each : children_) {
    if (each->link != nullptr) {
      each->link->forgive_silence();
    }
  }
}

bool daemon_children::gone() const {
  return starter_.agents_have_ended() && std::all_of(children_.begin(), children_.end(),
                                                     [](const auto& each) { return each->gone; });
}

}  // namespace sinew::tool
