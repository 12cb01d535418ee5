// SPDX-License-Identifier: BSD-3-Clause
// A rank without MPI, for the tests of launchers: `boot_probe WHAT [RANK [CODE]]`.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>

#include "sinew/boot/crash_report.hpp"
#include "sinew/boot/exit_report.hpp"
#include "sinew/boot/session.hpp"

namespace {

using sinew::boot::session;

constexpr std::size_t bytes = std::size_t{1} << 20;

// More than 32 bits can tell; but little without memfd_create: then all of it is reserved at once.
std::size_t size_of_heap() {
  const int number = ::memfd_create("boot_probe", MFD_CLOEXEC);
  if (number < 0) {
    return std::size_t{1} << 24;
  }
  ::close(number);
  return std::size_t{1} << 32;
}

session* at_exit_finalizes = nullptr;

[[noreturn]] void sleep_for_ever() {
  while (true) {
    ::pause();
  }
}

// Every rank writes into its own part of the memory and into the key-value space, and checks what
// the others wrote.
int exchange(session& line) {
  const auto& here = line.where();
  std::byte* base = line.map_node_memory(bytes);
  std::byte* mine = base + bytes * here.local_rank.index();
  if (mine[0] != std::byte{0} || mine[bytes - 1] != std::byte{0}) {
    std::puts("memory is not zero");
    return 1;
  }
  std::memset(mine, 'a' + here.rank.value() % 26, bytes);
  const std::size_t heap_bytes = size_of_heap();
  std::byte* heap = line.map_node_heap(heap_bytes);
  heap[heap_bytes * (here.local_rank.index() + 1) - 1] =
      static_cast<std::byte>('a' + here.rank.value() % 26);
  const std::string odd = "a b=c;%\n\xff of rank ";
  line.put("key-" + to_string(here.rank), odd + to_string(here.rank));
  line.fence();
  for (int local = 0; local < here.local_size; ++local) {
    const int rank = here.local_ranks.at(static_cast<std::size_t>(local)).value();
    const auto wanted = static_cast<std::byte>('a' + rank % 26);
    const std::byte* theirs = base + bytes * static_cast<std::size_t>(local);
    const std::byte last = heap[heap_bytes * static_cast<std::size_t>(local + 1) - 1];
    if (theirs[0] != wanted || theirs[bytes - 1] != wanted || last != wanted) {
      std::printf("memory of rank %d is wrong\n", rank);
      return 1;
    }
  }
  for (int rank = 0; rank < here.size; ++rank) {
    if (line.get("key-" + std::to_string(rank)) != odd + std::to_string(rank)) {
      std::printf("key of rank %d is wrong\n", rank);
      return 1;
    }
  }
  if (line.get("nobody-put-this")) {
    std::puts("a key that nobody put has a value");
    return 1;
  }
  line.fence();
  std::printf("rank %d of %d, local %d of %d, by %s: good\n", here.rank.value(), here.size,
              here.local_rank.value(), here.local_size, here.launcher.c_str());
  return 0;
}

// Every rank tells where it is, with a long value of odd bytes, and checks what the others told.
int nodes(session& line) {
  const auto& here = line.where();
  const auto value_of = [](int rank) {
    std::string value(900, '\0');
    for (std::size_t i = 0; i < value.size(); ++i) {
      value[i] = static_cast<char>(i * 7 + static_cast<std::size_t>(rank));
    }
    return value;
  };
  line.put("long-" + to_string(here.rank), value_of(here.rank.value()));
  line.put("node-" + to_string(here.rank), std::to_string(here.node));
  line.fence();
  for (int rank = 0; rank < here.size; ++rank) {
    const std::string number = std::to_string(rank);
    const int node = here.node_of.empty() ? 0 : here.node_of.at(static_cast<std::size_t>(rank));
    if (line.get("long-" + number) != value_of(rank) ||
        line.get("node-" + number) != std::to_string(node)) {
      std::printf("what rank %d told is wrong\n", rank);
      return 1;
    }
  }
  line.fence();
  const std::string host =
      here.hosts.empty() ? "-" : here.hosts.at(static_cast<std::size_t>(here.node));
  std::printf("rank %d of %d, local %d of %d, node %d of %d: %s\n", here.rank.value(), here.size,
              here.local_rank.value(), here.local_size, here.node, here.nodes, host.c_str());
  return 0;
}

void misbehave(session& line, std::string_view what, int code) {
  if (what == "crash") {
    // Read at run time, lest the compiler see through it.
    *reinterpret_cast<volatile int*>(std::strtoul("8", nullptr, 10)) = 1;
  } else if (what == "abort") {
    std::printf("said before abort");
    line.abort(code, "the reason is \"bad input\"");
  } else if (what == "leave") {
    std::exit(code);
  } else if (what == "vanish") {
    ::_exit(code);
  } else if (what == "control") {
    line.abort(code,
               "red \x1b[31mtext\x07 and \xc2\x9b"
               "5m, \xff, caf\xc3\xa9");
  } else if (what == "desert") {
    line.finalize();
    std::exit(0);
  }
}

int run(std::string_view what, int chosen, int code) {
  // Never freed: it is looked at when the process ends.
  session* const line = sinew::boot::connect().release();
  const auto& here = line->where();
  sinew::boot::install_crash_report(here);
  sinew::boot::install_exit_report(*line, 10);
  int result = 0;
  if (what == "exchange") {
    result = exchange(*line);
  } else if (what == "nodes") {
    result = nodes(*line);
  } else if (what == "start") {
    (void)line->map_node_memory(bytes);
  } else if (what == "huge") {
    (void)line->map_node_memory(std::size_t{1} << 40);
  } else if (what == "sleep") {
    sleep_for_ever();
  } else if (what == "forget") {
    // Ends without finalize; the chosen rank later than the others, or if `code` is 1 never.
    (void)line->map_node_memory(bytes);
    if (here.rank == sinew::job_rank{chosen} && code == 1) {
      sleep_for_ever();
    }
    if (here.rank == sinew::job_rank{chosen}) {
      ::sleep(1);
    }
    std::exit(0);
  } else if (what == "results") {
    // After finalize the chosen rank fails, and rank 0 prints as soon as it is told to.
    line->fence();
    line->finalize();
    if (here.rank == sinew::job_rank{0}) {
      (void)std::getchar();
      std::puts("result");
    }
    std::exit(here.rank == sinew::job_rank{chosen} ? code : 0);
  } else if (what == "late") {
    // Finalizes in a handler that was registered before the job was joined.
    (void)line->map_node_memory(bytes);
    at_exit_finalizes = line;
    std::exit(0);
  } else if (here.rank == sinew::job_rank{chosen}) {
    misbehave(*line, what, code);
  } else if (what == "desert") {
    line->fence();
  } else {
    sleep_for_ever();
  }
  line->finalize();
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  std::atexit([] {
    if (at_exit_finalizes != nullptr) {
      at_exit_finalizes->finalize();
    }
  });
  try {
    return run(argc > 1 ? argv[1] : "exchange", argc > 2 ? std::atoi(argv[2]) : 0,
               argc > 3 ? std::atoi(argv[3]) : 0);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "boot_probe: %s\n", failure.what());
    return 9;
  }
}
