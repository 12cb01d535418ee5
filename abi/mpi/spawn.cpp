// MPI-5.0 section 11.8: ranks that are started at run time. The root asks the launcher, which
// starts the processes in places that the node's memory has for them; or, where the launcher does
// not do that, the root starts another one. Then both groups meet as those of MPI_Comm_connect and
// MPI_Comm_accept do.
#include "sinew/boot/spawn.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/info.hpp"
#include "abi/mpi/intercomm.hpp"
#include "abi/mpi/ports.hpp"
#include "abi/mpi/settings.hpp"
#include "abi/mpi/spawn_job.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"

namespace sinew::mpi {
namespace {

/// What the root was asked for.
struct wanted_ranks {
  std::vector<boot::spawn_command> commands;
  std::vector<int> most;  ///< of each
  std::string hosts;      ///< what the info says, as --hosts has it
};

/// What the root has got, the same on all ranks.
struct spawned_ranks {
  int error = MPI_SUCCESS;
  std::string why;
  boot::spawn_answer answer;
  std::vector<int> most;
};

/// Without empty words.
std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!word.empty()) {
      words.emplace_back(word);
    }
  }
  return words;
}

int number_in_soft(const std::string& text) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < -1'000'000 || value > 1'000'000) {
    fail(MPI_ERR_INFO_VALUE, "\"%s\" is no number, in the info key \"soft\"", text.c_str());
  }
  return static_cast<int>(value);
}

/// MPI-5.0 section 11.8.1: "soft" has a:b:c, a:b and a, joined by commas; descending here.
std::vector<int> soft_counts(const std::string& soft, int most) {
  std::set<int, std::greater<>> counts;
  for (const std::string& part : split(soft, ',')) {
    const std::vector<std::string> words = split(part, ':');
    if (words.empty() || words.size() > 3) {
      fail(MPI_ERR_INFO_VALUE, "\"%s\" is no range, in the info key \"soft\"", part.c_str());
    }
    const int first = number_in_soft(words[0]);
    const int last = words.size() > 1 ? number_in_soft(words[1]) : first;
    const int step = words.size() > 2 ? number_in_soft(words[2]) : 1;
    if (step == 0) {
      fail(MPI_ERR_INFO_VALUE, "the step of \"%s\" is 0, in the info key \"soft\"", part.c_str());
    }
    for (int n = first; step > 0 ? n <= last : n >= last; n += step) {
      if (n >= 1 && n <= most) {
        counts.insert(n);
      }
    }
  }
  if (counts.empty()) {
    fail(MPI_ERR_SPAWN, "the info key \"soft\" (%s) allows no number of ranks from 1 to %d",
         soft.c_str(), most);
  }
  return {counts.begin(), counts.end()};
}

void check_host(const std::string& host) {
  char own[256] = {};
  (void)::gethostname(own, sizeof own - 1);
  if (!host.empty() && host != "localhost" && host != own) {
    fail(MPI_ERR_SPAWN,
         "ranks can be spawned on this node (%s) alone, and the info key \"host\" says %s", own,
         host.c_str());
  }
}

/// Hosts of all commands: those of the first that names any.
void take_hosts(wanted_ranks& wanted, const std::string& hosts) {
  if (launcher_spawns()) {
    check_host(hosts);
  } else if (wanted.hosts.empty()) {
    wanted.hosts = hosts;
  } else if (!hosts.empty() && hosts != wanted.hosts) {
    fail(MPI_ERR_SPAWN,
         "the commands of one spawn run on the same hosts here, and the info key \"host\" says %s "
         "for one and %s for another",
         wanted.hosts.c_str(), hosts.c_str());
  }
}

/// Adds a command to `wanted`.
void add_command(wanted_ranks& wanted, const char* command, char* const* argv, int most,
                 MPI_Info info) {
  check_out(command, "command");
  if (most < 0) {
    fail(MPI_ERR_ARG, "the number of ranks to be spawned, %d, is negative", most);
  }
  if (most == 0) {
    fail(MPI_ERR_ARG, "no ranks are to be spawned: maxprocs is 0");
  }
  wanted.most.push_back(most);
  boot::spawn_command& c = wanted.commands.emplace_back();
  c.arguments.emplace_back(command);
  if (c.arguments.front().empty()) {
    fail(MPI_ERR_ARG, "the command to be spawned is empty");
  }
  for (; argv != MPI_ARGV_NULL && *argv != nullptr; ++argv) {
    c.arguments.emplace_back(*argv);
  }
  c.counts = {most};
  if (info == MPI_INFO_NULL) {
    return;
  }
  const info_object& hints = info_of(info);
  take_hosts(wanted, hints.value("host"));
  c.directory = hints.value("wdir").empty() ? hints.value("wd") : hints.value("wdir");
  c.path = split(hints.value("path"), ':');
  c.environment = split(hints.value("env"), '\n');
  for (const std::string& each : c.environment) {
    if (each.find('=') == each.npos || each.front() == '=') {
      fail(MPI_ERR_INFO_VALUE, "\"%s\" is not NAME=VALUE, in the info key \"env\"", each.c_str());
    }
  }
  if (const std::string soft = hints.value("soft"); !soft.empty()) {
    c.counts = soft_counts(soft, most);
  }
}

/// The launcher starts them. `contact` tells them where their spawner waits.
void ask_launcher(wanted_ranks wanted, const std::string& contact, spawned_ranks& got) {
  std::unique_lock<std::mutex> held;
  got.answer = launcher_line(held).spawn({std::move(wanted.commands), contact});
  got.error = got.answer.ranks.empty() ? MPI_ERR_SPAWN : MPI_SUCCESS;
  got.why = got.answer.why;
}

/// A launcher of their own starts them, and they connect to a port of this rank.
std::optional<coll::leaders_link> start_job(wanted_ranks wanted, leaders_way& way,
                                            spawned_ranks& got) {
  for (const boot::spawn_command& each : wanted.commands) {
    got.answer.counts.push_back(each.counts.front());
  }
  const int ranks =
      std::accumulate(got.answer.counts.begin(), got.answer.counts.end(), 0, std::plus<>());
  const std::shared_ptr<open_port> port = open_port::open(next_number());
  spawned_job job = spawned_job::start({std::move(wanted.commands), port->name().text(),
                                        wanted.hosts.empty() ? hosts_for(ranks) : wanted.hosts});
  const patience until{.over = [](void* p) { return static_cast<spawned_job*>(p)->over(); },
                       .context = &job};
  auto link = await_caller(*port, until, way);
  got.error = link ? MPI_SUCCESS : MPI_ERR_SPAWN;
  got.why = link ? "" : job.why();
  return link;
}

/// At the root: what `start` does with what was asked for.
template <class Arguments, class Start>
spawned_ranks ask(const Arguments& arguments, const Start& start) {
  spawned_ranks got;
  try {
    wanted_ranks wanted = arguments();
    got.most = wanted.most;
    got.error = MPI_ERR_SPAWN;
    start(std::move(wanted), got);
  } catch (const failure& f) {
    got.error = f.code;
    got.why = f.sentence;
  } catch (const sinew::error& e) {
    got.why = e.what();
  }
  SINEW_ENSURE(got.error == MPI_SUCCESS || !got.why.empty());
  return got;
}

/// Collective: `told` becomes what the root has.
void tell_all(coll::participant at, comm_rank root, spawned_ranks& told) {
  std::string text = to_text(told.answer);
  const auto share = [&](void* data, std::size_t bytes) {
    (void)coll::bcast(at, p2p::buffer::of_bytes(data, bytes), root);
  };
  std::uint64_t lengths[] = {static_cast<std::uint64_t>(told.error), told.why.size(), text.size(),
                             told.most.size()};
  share(lengths, sizeof lengths);
  told.error = static_cast<int>(lengths[0]);
  told.why.resize(lengths[1]);
  text.resize(lengths[2]);
  told.most.resize(lengths[3]);
  share(told.why.data(), told.why.size());
  share(text.data(), text.size());
  share(told.most.data(), told.most.size() * sizeof(int));
  told.answer = boot::parse_spawn_answer(text).value_or(boot::spawn_answer{});
}

/// Of each command as many as were wanted, those that were started first.
void set_codes(int* codes, const spawned_ranks& got) {
  if (codes == MPI_ERRCODES_IGNORE) {
    return;
  }
  for (std::size_t i = 0; i < got.most.size(); ++i) {
    const int started = i < got.answer.counts.size() ? got.answer.counts[i] : 0;
    codes = std::fill_n(codes, started, MPI_SUCCESS);
    codes = std::fill_n(codes, got.most[i] - started, MPI_ERR_SPAWN);
  }
}

void throw_if_failed(comm_object& c, const spawned_ranks& got) {
  if (got.error != MPI_SUCCESS) {
    fail_on(&c, got.error, "%s", got.why.c_str());
  }
}

/// Both are collective over `c`; `arguments` is called at the root alone.
template <class Arguments>
coll::intercommunicator_ref spawn_in_job(const Arguments& arguments, comm_rank root, comm_object& c,
                                         int* codes) {
  const coll::participant at = participant_of(c);
  spawned_ranks got;
  int tag = 0;
  if (at.comm.rank() == root) {
    const int self = process.runtime->rank().value();
    tag =
        tag_of_connection(self, next_number()).value() | 1;  // not 0, which the contact cannot say
    const std::string contact = std::to_string(self) + "." + std::to_string(tag);
    got = ask(arguments, [&](wanted_ranks wanted, spawned_ranks& answer) {
      ask_launcher(std::move(wanted), contact, answer);
    });
  }
  tell_all(at, root, got);
  set_codes(codes, got);
  throw_if_failed(c, got);
  for (const boot::tenancy& each : got.answer.ranks) {
    process.engine->meet(each.rank, each.tenant);
  }
  const coll::leaders_link link{*process.job, comm_rank{got.answer.ranks.front().rank.value()},
                                message_tag{tag}};
  return connected(at, root, &link);
}

template <class Arguments>
coll::intercommunicator_ref spawn_as_job(const Arguments& arguments, comm_rank root, comm_object& c,
                                         int* codes) {
  const coll::participant at = participant_of(c);
  spawned_ranks got;
  leaders_way way;
  std::optional<coll::leaders_link> link;
  if (at.comm.rank() == root) {
    got = ask(arguments, [&](wanted_ranks wanted, spawned_ranks& answer) {
      if (const auto found = start_job(std::move(wanted), way, answer)) {
        link.emplace(*found);
      }
    });
  }
  tell_all(at, root, got);
  set_codes(codes, got);
  throw_if_failed(c, got);
  return connected(at, root, link ? &*link : nullptr);
}

template <class Arguments>
int spawn(const Arguments& arguments, int root, MPI_Comm comm, MPI_Comm* intercomm, int* codes) {
  comm_object& c = intracomm_of(comm);
  check_out(intercomm, "intercomm");
  check_root(c, root);
  *intercomm = MPI_COMM_NULL;
  *intercomm = adopt(launcher_spawns() ? spawn_in_job(arguments, comm_rank{root}, c, codes)
                                       : spawn_as_job(arguments, comm_rank{root}, c, codes),
                     c);
  return MPI_SUCCESS;
}

/// The parent of a rank that its launcher has started in a place of the job.
coll::intercommunicator_ref parent_in_job(coll::participant world) {
  const std::string& contact = process.runtime->session().where().spawning.contact;
  const auto from = boot::parse_tenancies(contact);
  SINEW_CHECK(from.has_value() && from->front().rank.below(process.runtime->reach()),
              "this rank does not find who has spawned it", "its launcher says \"" + contact + "\"",
              "set none of SINEW_BOOT_* by hand");
  const coll::leaders_link link{*process.job, comm_rank{from->front().rank.value()},
                                message_tag{static_cast<int>(from->front().tenant)}};
  return connected(world, 0, &link);
}

/// And of one of a job of its own.
coll::intercommunicator_ref parent_at(coll::participant world, const std::string& port) {
  leaders_way way;
  return connected_by(world, 0, [&] {
    const std::int64_t patience_ns = connect_timeout_setting() * 1'000'000'000;
    return connect_to(port.c_str(), patience_ns == 0 ? 0 : now_ns() + patience_ns, way);
  });
}

}  // namespace

void find_parent() {
  const bool in_job = process.runtime->session().where().spawned();
  const std::string port = take_port_of_parent();
  if (!in_job && port.empty()) {
    return;
  }
  comm_object& world = *process.comms[1];
  const coll::participant at = participant_of(world);
  process.parent = adopt(in_job ? parent_in_job(at) : parent_at(at, port), world);
  comm_of(process.parent).comm->name = "MPI_COMM_PARENT";
}

int impl::Comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info, int root,
                     MPI_Comm comm, MPI_Comm* intercomm, int array_of_errcodes[]) {
  const auto arguments = [&] {
    wanted_ranks wanted;
    add_command(wanted, command, argv, maxprocs, info);
    return wanted;
  };
  return spawn(arguments, root, comm, intercomm, array_of_errcodes);
}

int impl::Comm_spawn_multiple(int count, char* array_of_commands[], char** array_of_argv[],
                              const int array_of_maxprocs[], const MPI_Info array_of_info[],
                              int root, MPI_Comm comm, MPI_Comm* intercomm,
                              int array_of_errcodes[]) {
  const auto arguments = [&] {
    if (count < 1) {
      fail(MPI_ERR_ARG, "the number of commands to be spawned, %d, is not positive", count);
    }
    check_out(array_of_commands, "array_of_commands");
    check_out(array_of_maxprocs, "array_of_maxprocs");
    check_out(array_of_info, "array_of_info");
    wanted_ranks wanted;
    for (int i = 0; i < count; ++i) {
      char** const argv = array_of_argv == MPI_ARGVS_NULL ? MPI_ARGV_NULL : array_of_argv[i];
      add_command(wanted, array_of_commands[i], argv, array_of_maxprocs[i], array_of_info[i]);
    }
    return wanted;
  };
  return spawn(arguments, root, comm, intercomm, array_of_errcodes);
}

}  // namespace sinew::mpi
