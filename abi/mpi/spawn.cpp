// MPI-5.0 section 11.8: ranks that are started at run time. The root asks the launcher, which
// starts the processes in places that the node's memory has for them; then both groups meet as
// those of MPI_Comm_connect and MPI_Comm_accept do.
#include "sinew/boot/spawn.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/info.hpp"
#include "abi/mpi/intercomm.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {
namespace {

/// What the root was asked for.
struct wanted_ranks {
  std::vector<boot::spawn_command> commands;
  std::vector<int> most;  ///< of each
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

boot::spawn_command command_of(const char* command, char* const* argv, int most, MPI_Info info) {
  check_out(command, "command");
  if (most < 0) {
    fail(MPI_ERR_ARG, "the number of ranks to be spawned, %d, is negative", most);
  }
  if (most == 0) {
    fail(MPI_ERR_ARG, "no ranks are to be spawned: maxprocs is 0");
  }
  boot::spawn_command c;
  c.arguments.emplace_back(command);
  if (c.arguments.front().empty()) {
    fail(MPI_ERR_ARG, "the command to be spawned is empty");
  }
  for (; argv != MPI_ARGV_NULL && *argv != nullptr; ++argv) {
    c.arguments.emplace_back(*argv);
  }
  c.counts = {most};
  if (info == MPI_INFO_NULL) {
    return c;
  }
  const info_object& hints = info_of(info);
  check_host(hints.value("host"));
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
  return c;
}

/// At the root: asks the launcher. `contact` tells the new ranks where their spawner waits.
template <class Arguments>
spawned_ranks ask(const Arguments& arguments, const std::string& contact) {
  spawned_ranks got;
  try {
    wanted_ranks wanted = arguments();
    got.most = std::move(wanted.most);
    got.error = MPI_ERR_SPAWN;
    std::unique_lock<std::mutex> held;
    got.answer = launcher_line(held).spawn({std::move(wanted.commands), contact});
    got.error = got.answer.ranks.empty() ? MPI_ERR_SPAWN : MPI_SUCCESS;
    got.why = got.answer.why;
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

/// `arguments` is called at the root alone.
template <class Arguments>
int spawn(const Arguments& arguments, int root_number, MPI_Comm comm, MPI_Comm* intercomm,
          int* codes) {
  comm_object& c = intracomm_of(comm);
  check_out(intercomm, "intercomm");
  check_root(c, root_number);
  const comm_rank root{root_number};
  *intercomm = MPI_COMM_NULL;
  const coll::participant at = participant_of(c);
  spawned_ranks got;
  int tag = 0;
  if (at.comm.rank() == root) {
    const int self = process.runtime->rank().value();
    tag =
        tag_of_connection(self, next_number()).value() | 1;  // not 0, which the contact cannot say
    got = ask(arguments, std::to_string(self) + "." + std::to_string(tag));
  }
  tell_all(at, root, got);
  set_codes(codes, got);
  if (got.error != MPI_SUCCESS) {
    fail_on(&c, got.error, "%s", got.why.c_str());
  }
  for (const boot::tenancy& each : got.answer.ranks) {
    process.engine->meet(each.rank, each.tenant);
  }
  const coll::leaders_link link{*process.job, comm_rank{got.answer.ranks.front().rank.value()},
                                message_tag{tag}};
  *intercomm = adopt(connected(at, root, &link), c);
  return MPI_SUCCESS;
}

}  // namespace

void find_parent() {
  comm_object& world = *process.comms[1];
  const std::string& contact = process.runtime->session().where().spawning.contact;
  const auto from = boot::parse_tenancies(contact);
  SINEW_CHECK(from.has_value() && from->front().rank.below(process.runtime->reach()),
              "this rank does not find who has spawned it", "its launcher says \"" + contact + "\"",
              "set none of SINEW_BOOT_* by hand");
  const coll::leaders_link link{*process.job, comm_rank{from->front().rank.value()},
                                message_tag{static_cast<int>(from->front().tenant)}};
  process.parent = adopt(connected(participant_of(world), 0, &link), world);
  comm_of(process.parent).comm->name = "MPI_COMM_PARENT";
}

int impl::Comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info, int root,
                     MPI_Comm comm, MPI_Comm* intercomm, int array_of_errcodes[]) {
  const auto arguments = [&] {
    return wanted_ranks{{command_of(command, argv, maxprocs, info)}, {maxprocs}};
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
      wanted.commands.push_back(
          command_of(array_of_commands[i], argv, array_of_maxprocs[i], array_of_info[i]));
      wanted.most.push_back(array_of_maxprocs[i]);
    }
    return wanted;
  };
  return spawn(arguments, root, comm, intercomm, array_of_errcodes);
}

}  // namespace sinew::mpi
