// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/pmi_server.hpp"

#include <algorithm>

#include "sinew/base/check.hpp"
#include "sinew/boot/crash_report.hpp"
#include "sinew/boot/launcher_wire.hpp"

namespace sinew::tool {
namespace {

namespace wire = boot::launcher_wire;

constexpr int key_limit = 64;
constexpr std::size_t value_limit = wire::value_limit;
constexpr std::size_t space_limit = std::size_t{256} << 20;  // all keys and values together

}  // namespace

pmi_server::pmi_server(std::string job, std::vector<int> application_of, callbacks calls,
                       std::vector<int> node_of, std::shared_ptr<name_service> names)
    : job_(std::move(job)),
      application_of_(std::move(application_of)),
      calls_(std::move(calls)),
      clients_(application_of_.size()),
      names_(names != nullptr ? std::move(names) : std::make_shared<name_service>()) {
  node_of.resize(clients_.size(), 0);
  values_["PMI_process_mapping"] = boot::format_process_mapping(node_of);  // MPICH looks here
}

void pmi_server::receive(int rank, std::string_view bytes) {
  client& from = at(rank);
  if (from.refused) {
    return;
  }
  if (!from.input.append(bytes)) {
    return refuse(rank, "sent a line without an end");
  }
  while (!from.refused) {
    const auto line = from.input.next();
    if (!line) {
      return;
    }
    take_line(rank, *line);
  }
}

void pmi_server::take_line(int rank, const std::string& line) {
  client& from = at(rank);
  if (from.in_long_command) {
    if (line == "endcmd") {
      from.in_long_command = false;
      calls_.send(rank, "cmd=spawn_result rc=-1 msg=spawn_is_not_supported\n");
    }
    return;
  }
  const auto message = boot::pmi_message::parse(line);
  if (!message) {
    return refuse(
        rank, "does not speak PMI-1; it sent \"" + boot::pmi_visible(line.substr(0, 60)) + "\"");
  }
  if (message->multi_line()) {
    from.in_long_command = true;
    return;
  }
  take(rank, *message);
}

void pmi_server::take(int rank, const boot::pmi_message& message) {
  const std::string& command = message.command();
  const std::string size = std::to_string(clients_.size());
  client& from = at(rank);
  if (command == wire::hello) {
    // The node's memory is no longer empty, so a second program would read the first one's rings.
    if (from.initialised) {
      return refuse(rank, "started a second MPI program; each needs a `sinew run` of its own");
    }
    if (!start(rank, false)) {
      return;
    }
  } else if (command == wire::goodbye || command == wire::returned || command == wire::depart) {
    (command == wire::depart ? from.departed : from.finalized) = command != wire::returned;
    tell_all_left();
  } else if (command == wire::lost && calls_.lost) {
    note_loss(rank, message);
  } else if (command == wire::vote && calls_.voted) {
    vote(rank, message);
  } else if (command == boot::crashing && calls_.crashing) {
    calls_.crashing(rank);
  } else if (command == wire::remark && calls_.remark) {
    calls_.remark(boot::pmi_unescape(message.find("text").value_or("")).value_or(""));
  } else if (command == wire::waits && calls_.waits) {
    note_wait(rank, message);
  } else if (command == wire::connected) {
    from.connected = true;
  } else if (command == wire::connections && calls_.connected) {
    note_connections(rank, message);
  } else if (command == wire::spawn && calls_.spawn) {
    calls_.spawn(rank, boot::pmi_unescape(message.find("request").value_or("")).value_or(""));
  } else if (command == "init") {
    if (!start(rank, true)) {
      return;
    }
    calls_.send(rank, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
  } else if (command == "finalize") {
    from.finalized = true;
    calls_.send(rank, "cmd=finalize_ack rc=0\n");
  } else if (command == "get_maxes") {
    calls_.send(rank, "cmd=maxes kvsname_max=256 keylen_max=" + std::to_string(key_limit) +
                          " vallen_max=" + std::to_string(value_limit) + " rc=0\n");
  } else if (command == "get_appnum") {
    calls_.send(rank, "cmd=appnum appnum=" +
                          std::to_string(application_of_[static_cast<std::size_t>(rank)]) +
                          " rc=0\n");
  } else if (command == "get_my_kvsname") {
    calls_.send(rank, "cmd=my_kvsname kvsname=" + job_ + " rc=0\n");
  } else if (command == "get_universe_size") {
    calls_.send(rank, "cmd=universe_size size=" + size + " rc=0\n");
  } else if (command == "put") {
    calls_.send(rank, put(message));
  } else if (command == "get") {
    calls_.send(rank, get(message));
  } else if (command == "barrier_in") {
    barrier(rank);
  } else if (command == "abort") {
    const auto why = message.find(wire::abort_reason);
    const auto plain = message.find("error_msg");
    calls_.abort(rank, message.number("exitcode").value_or(1),
                 why ? boot::pmi_unescape(*why).value_or("") : std::string(plain.value_or("")));
  } else if (command == "publish_name" || command == "unpublish_name" || command == "lookup_name") {
    calls_.send(rank, names_->answer(message));
  } else {
    refuse(rank, "sent the unknown PMI command " + boot::pmi_visible(command.substr(0, 60)));
  }
}

// Ranks of two libraries would wait for each other, each in its own way, for ever.
bool pmi_server::start(int rank, bool plain) {
  const auto other = std::find_if(clients_.begin(), clients_.end(), [plain](const client& each) {
    return each.initialised && each.plain != plain;
  });
  if (other != clients_.end()) {
    const std::string number = std::to_string(other - clients_.begin());
    refuse(rank, plain ? "is linked to another MPI than rank " + number +
                             ", which runs on Sinew; build all programs of a job with mpicc.sinew"
                       : "runs on Sinew, but rank " + number +
                             " is linked to another MPI; build all programs of a job with "
                             "mpicc.sinew");
    return false;
  }
  if (plain && ours_only_) {
    refuse(rank,
           "is linked to another MPI than the rank that has spawned it, which runs on Sinew; build "
           "it with mpicc.sinew");
    return false;
  }
  at(rank).initialised = true;
  at(rank).plain = plain;
  return true;
}

std::string pmi_server::put(const boot::pmi_message& message) {
  const auto key = message.find("key");
  const auto value = message.find("value");
  if (!key || !value || key->empty() || key->size() > key_limit || value->size() > value_limit ||
      value_bytes_ + key->size() + value->size() > space_limit) {
    return "cmd=put_result rc=-1 msg=key_or_value_missing_or_too_long\n";
  }
  value_bytes_ += key->size() + value->size();
  values_[std::string(*key)] = *value;
  return "cmd=put_result rc=0 msg=success\n";
}

std::string pmi_server::get(const boot::pmi_message& message) const {
  const auto key = message.find("key");
  const auto found = key ? values_.find(*key) : values_.end();
  if (found == values_.end()) {
    return "cmd=get_result rc=-1 msg=key_not_found value=unknown\n";
  }
  return "cmd=get_result rc=0 msg=success value=" + found->second + "\n";
}

void pmi_server::barrier(int rank) {
  client& from = at(rank);
  if (from.in_barrier) {
    return refuse(rank, "entered two PMI barriers at once");
  }
  from.in_barrier = true;
  ++waiting_;
  end_barrier_if_all_in();
}

void pmi_server::end_barrier_if_all_in() {
  if (waiting_ == 0 || !std::all_of(clients_.begin(), clients_.end(), [](const client& each) {
        return each.in_barrier || each.excused;
      })) {
    return;
  }
  waiting_ = 0;
  for (client& each : clients_) {
    each.in_barrier = false;
  }
  for (int each = 0; each < static_cast<int>(clients_.size()); ++each) {
    if (!at(each).excused) {
      calls_.send(each, "cmd=barrier_out rc=0\n");
    }
  }
}

void pmi_server::excuse(int rank) {
  client& gone = at(rank);
  SINEW_EXPECT(gone.left);
  waiting_ -= gone.in_barrier ? 1 : 0;
  gone.in_barrier = false;
  gone.excused = true;
  end_barrier_if_all_in();
}

void pmi_server::vote(int rank, const boot::pmi_message& message) {
  const int slot = message.number("slot").value_or(-1);
  const int key = message.number("key").value_or(-1);
  const int turn = message.number("turn").value_or(-1);
  const auto flag = message.number("flag");
  constexpr int most = 0xffff;
  if (slot < 0 || slot >= static_cast<int>(boot::survival::slots) || key < 0 || key > most ||
      turn < 1 || turn > most) {
    return refuse(rank, "has voted in a way that makes no sense");
  }
  calls_.voted(rank, {{static_cast<std::uint32_t>(slot), static_cast<std::uint16_t>(key),
                       static_cast<std::uint16_t>(turn)},
                      static_cast<std::uint32_t>(flag.value_or(0)),
                      0,
                      !flag.has_value()});
}

void pmi_server::note_loss(int rank, const boot::pmi_message& message) {
  const int other = message.number("rank").value_or(-1);
  if (other < 0 || static_cast<std::size_t>(other) >= clients_.size()) {
    return refuse(rank, "has lost a rank that there is not");
  }
  calls_.lost(rank, other, boot::pmi_unescape(message.find("why").value_or("")).value_or(""));
}

void pmi_server::note_wait(int rank, const boot::pmi_message& message) {
  const auto report = boot::parse_wait_report(message);
  if (!report) {
    return refuse(rank, "tells what it waits for in a way that makes no sense");
  }
  calls_.waits(rank, *report);
}

void pmi_server::note_connections(int rank, const boot::pmi_message& message) {
  const auto with = boot::parse_connections(message.find("ranks").value_or(""));
  if (!with) {
    return refuse(rank, "tells of connections that make no sense");
  }
  calls_.connected(rank, *with);
}

void pmi_server::leave(int rank) {
  at(rank).left = true;
  tell_all_left();
}

void pmi_server::tell_all_left() {
  const bool all = std::all_of(clients_.begin(), clients_.end(), [](const client& each) {
    return each.left || each.finalized || each.departed;
  });
  for (int rank = 0; all && rank < static_cast<int>(clients_.size()); ++rank) {
    if (at(rank).departed && !at(rank).left && !at(rank).finalized) {
      calls_.send(rank, std::string("cmd=") + wire::all_left + "\n");
    }
  }
}

int pmi_server::missed_in_barrier() const {
  for (std::size_t rank = 0; waiting_ > 0 && rank < clients_.size(); ++rank) {
    if (clients_[rank].left && !clients_[rank].in_barrier && !clients_[rank].excused) {
      return static_cast<int>(rank);
    }
  }
  return -1;
}

pmi_server::missing_start pmi_server::left_before_start() const {
  missing_start result;
  for (int rank = 0; rank < static_cast<int>(clients_.size()); ++rank) {
    const client& each = at(rank);
    if (each.left && !each.initialised && result.who < 0) {
      result.who = rank;
    }
    if (each.initialised && !each.finalized && !each.left && result.waiting < 0) {
      result.waiting = rank;
    }
  }
  return result.who >= 0 && result.waiting >= 0 ? result : missing_start{};
}

int pmi_server::left_without_start() const {
  const auto found = std::find_if(clients_.begin(), clients_.end(), [](const client& each) {
    return each.left && !each.initialised;
  });
  return found == clients_.end() ? -1 : static_cast<int>(found - clients_.begin());
}

bool pmi_server::has_ours() const {
  return std::any_of(clients_.begin(), clients_.end(),
                     [](const client& each) { return each.initialised && !each.plain; });
}

bool pmi_server::not_started(int rank) const {
  return !at(rank).initialised && !at(rank).left &&
         std::any_of(clients_.begin(), clients_.end(),
                     [](const client& each) { return each.initialised && !each.left; });
}

void pmi_server::refuse(int rank, const std::string& why) {
  at(rank).refused = true;
  calls_.nonsense(rank, why);
}

}  // namespace sinew::tool
