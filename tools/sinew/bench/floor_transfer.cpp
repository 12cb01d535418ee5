// SPDX-License-Identifier: BSD-3-Clause
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "sinew/base/check.hpp"
#include "sinew/bench/floor_parts.hpp"
#include "sinew/bench/stats.hpp"

namespace sinew::tool::floors {
namespace {

constexpr std::size_t slots = 32;
constexpr std::size_t most_piece = 32768;
constexpr int samples = 8;
constexpr double most_ns = 1e8;  // for the samples of one way and size, on a busy machine

/// One direction of a pipe through shared memory.
struct pipe_area {
  line filled[slots];
  line gap0;
  line consumed;  ///< pieces that the reader has copied out
  line gap1;
  alignas(4096) char data[slots * most_piece];  ///< pieces side by side, whatever their size
};

struct area {
  line_pair trip;
  line_pair turn;
  pipe_area there, back;
  std::atomic<int> pids[2] = {};
  std::atomic<bool> more{false};  ///< whether another sample is taken: the first side says so
};

/// A process' end of both directions: it sends on one and receives on the other.
class piece_end {
 public:
  piece_end(pipe_area& out, pipe_area& in, std::size_t piece) : out_(out), in_(in), piece_(piece) {
    SINEW_EXPECT(piece > 0 && piece <= most_piece);
  }

  void send(const char* from, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += piece_) {
      const std::size_t now = std::min(piece_, bytes - at);
      while (credit_ + slots <= sent_) {
        credit_ = out_.consumed.word.load(std::memory_order_acquire);
        relax();
      }
      std::memcpy(out_.data + sent_ % slots * piece_, from + at, now);
      // Release: the piece is there when the reader sees its number.
      out_.filled[sent_ % slots].word.store(sent_ + 1, std::memory_order_release);
      ++sent_;
    }
  }

  void receive(char* to, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += piece_) {
      const std::size_t now = std::min(piece_, bytes - at);
      await(in_.filled[received_ % slots], received_ + 1);
      std::memcpy(to + at, in_.data + received_ % slots * piece_, now);
      ++received_;
      if (received_ % (slots / 4) == 0) {
        // Release: the writer may use the slots again only after the copies.
        in_.consumed.word.store(received_, std::memory_order_release);
      }
    }
  }

 private:
  pipe_area& out_;
  pipe_area& in_;
  std::size_t piece_;
  std::uint64_t sent_ = 0, received_ = 0;
  std::uint64_t credit_ = 0;  ///< of what was sent, what the reader is known to have copied
};

/// A process and its partner, forked from one, so that buffers have the same addresses in both.
struct side {
  area& shared;
  bool first;
  std::size_t bytes;
  char* from;
  char* to;
  std::uint64_t trips = 0;  ///< numbers on shared.trip
  std::uint64_t turns = 0;  ///< on shared.turn
  clock_type::time_point begin = clock_type::now();

  [[nodiscard]] int partner() const {
    return shared.pids[first ? 1 : 0].load(std::memory_order_acquire);
  }
  /// Hands over and takes back: both wait for the other once.
  void meet() {
    ++turns;
    line& mine = first ? shared.turn.there : shared.turn.back;
    mine.word.store(turns, std::memory_order_release);
    await(first ? shared.turn.back : shared.turn.there, turns);
  }
  /// The next sample, from -1 on, while there is time, and at least sample 0; both sides get the
  /// same answer. Relaxed: the lines of meet() carry it.
  bool another(int sample) {
    if (first) {
      const bool more = sample <= 0 || (sample < samples && ns_since(begin) < most_ns);
      shared.more.store(more, std::memory_order_relaxed);
    }
    meet();
    return shared.more.load(std::memory_order_relaxed);
  }
  /// `bytes` at `at` of the partner's `from` into our `to`; false if the system refuses.
  bool read_partner(std::size_t at, std::size_t count) const {
    const iovec here{to + at, count}, far{from + at, count};
    return process_vm_readv(partner(), &here, 1, &far, 1, 0) == static_cast<ssize_t>(count);
  }
  bool write_partner(std::size_t at, std::size_t count) const {
    const iovec here{from + at, count}, far{to + at, count};
    return process_vm_writev(partner(), &here, 1, &far, 1, 0) == static_cast<ssize_t>(count);
  }
};

// Runs `body` on both sides with buffers of their own that each has touched; `bytes` each.
void on_both_sides(std::size_t bytes, int our_cpu, int their_cpu,
                   const std::function<void(side&)>& body) {
  void* memory = shared_memory(sizeof(area));
  if (memory == nullptr) {
    return;
  }
  auto* shared = new (memory) area;
  struct free_buffer {
    void operator()(char* p) const { ::operator delete[](p, std::align_val_t{4096}); }
  };
  using buffer = std::unique_ptr<char[], free_buffer>;
  const auto make = [bytes] {
    return buffer(static_cast<char*>(::operator new[](bytes, std::align_val_t{4096})));
  };
  const buffer from = make(), to = make();
  const auto run = [&](bool first) {
    side me{*shared, first, bytes, from.get(), to.get()};
    std::memset(me.from, 1, bytes);
    std::memset(me.to, 2, bytes);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    shared->pids[first ? 0 : 1].store(getpid(), std::memory_order_release);
    me.meet();
    body(me);
  };
  beside(our_cpu, their_cpu, [&] { run(false); }, [&] { run(true); });
}

int repetitions_of(std::size_t bytes) {
  return static_cast<int>(std::clamp<std::size_t>((std::size_t{4} << 20) / bytes, 2, 200));
}

/// How a measurement is told.
struct told_as {
  const char* name;
  const char* metric;
  const char* unit;
  const char* way;
  double (*value)(double bytes, double ns);  ///< of one call
};

// Calls of `one`, this side's part of a message or a round trip; both sides call it. A sample is
// the median of short batches, for on a busy machine some lose the processor.
void time_calls(side& me, const told_as& as, int calls, const std::function<void()>& one) {
  constexpr int batches = 5;
  const int each = std::max(calls / batches, 1);
  std::vector<double> ns;
  for (int s = -1; me.another(s); ++s) {  // the first one warms up
    const double trip = quick_trip(me.shared.trip, me.first, me.trips);
    ns.clear();
    for (int b = 0; b < batches; ++b) {
      const auto begin = clock_type::now();
      for (int i = 0; i < each; ++i) {
        one();
      }
      ns.push_back(ns_since(begin) / each);
    }
    if (me.first && s >= 0) {
      report(as.name, as.metric, as.unit, "bytes=" + std::to_string(me.bytes) + ",way=" + as.way,
             as.value(static_cast<double>(me.bytes), stats::median_of(ns)), trip);
    }
  }
}

void time_round_trips(side& me, const char* way, const std::function<void()>& there_and_back) {
  time_calls(me, {"transfer", "latency", "ns", way, [](double, double ns) { return ns / 2; }},
             repetitions_of(me.bytes), there_and_back);
}

void time_stream(side& me, const char* way, const std::function<void()>& one_message) {
  time_calls(
      me, {"stream", "bandwidth", "GB/s", way, [](double bytes, double ns) { return bytes / ns; }},
      4 * repetitions_of(me.bytes), one_message);
}

struct piece_size {
  const char* way;
  std::size_t bytes;
};
constexpr piece_size pieces[] = {
    {"pieces-1k", 1024}, {"pieces-4k", 4096}, {"pieces-8k", 8192}, {"pieces-32k", 32768}};

// Those that a message of `bytes` fills. The smallest also for messages below it, but not for long
// ones: each piece costs a line's trip.
bool useful(const piece_size& p, std::size_t bytes) {
  return &p == pieces ? bytes <= 65536 : p.bytes <= bytes;
}

}  // namespace

void transfers(const std::vector<std::size_t>& sizes, int our_cpu, int their_cpu) {
  for (const std::size_t bytes : sizes) {
    if (bytes <= 64) {
      continue;  // the line itself carries them
    }
    for (const piece_size& p : pieces) {
      if (useful(p, bytes)) {
        on_both_sides(bytes, our_cpu, their_cpu, [&p](side& me) {
          piece_end end(me.first ? me.shared.there : me.shared.back,
                        me.first ? me.shared.back : me.shared.there, p.bytes);
          time_round_trips(me, p.way, [&] {
            if (me.first) {
              end.send(me.from, me.bytes);
            }
            end.receive(me.to, me.bytes);
            if (!me.first) {
              end.send(me.from, me.bytes);
            }
          });
        });
      }
    }
    // Where the kernel copies, a turn of the line says that the bytes may be fetched.
    on_both_sides(bytes, our_cpu, their_cpu, [](side& me) {
      const bool allowed = me.read_partner(0, 1);
      me.shared.trip.gap0.word.fetch_add(allowed ? 1 : 0, std::memory_order_acq_rel);
      me.meet();
      if (me.shared.trip.gap0.word.load(std::memory_order_acquire) != 2) {
        return;  // the system does not let processes copy from each other
      }
      time_round_trips(me, "kernel", [&me] {
        ++me.turns;
        if (me.first) {
          me.shared.turn.there.word.store(me.turns, std::memory_order_release);
          await(me.shared.turn.back, me.turns);
          (void)me.read_partner(0, me.bytes);
        } else {
          await(me.shared.turn.there, me.turns);
          (void)me.read_partner(0, me.bytes);
          me.shared.turn.back.word.store(me.turns, std::memory_order_release);
        }
      });
    });
  }
}

void streams(const std::vector<std::size_t>& sizes, int our_cpu, int their_cpu) {
  for (const std::size_t bytes : sizes) {
    if (bytes == 0) {
      continue;
    }
    for (const piece_size& p : pieces) {
      if (useful(p, bytes)) {
        on_both_sides(bytes, our_cpu, their_cpu, [&p](side& me) {
          piece_end end(me.shared.there, me.shared.there, p.bytes);
          time_stream(me, p.way, [&] {
            if (me.first) {
              end.send(me.from, me.bytes);
            } else {
              end.receive(me.to, me.bytes);
            }
          });
        });
      }
    }
    // Each side has the kernel copy one half of every message, at the same time.
    on_both_sides(bytes, our_cpu, their_cpu, [](side& me) {
      const bool allowed = me.read_partner(0, 1);
      me.shared.trip.gap0.word.fetch_add(allowed ? 1 : 0, std::memory_order_acq_rel);
      me.meet();
      if (me.shared.trip.gap0.word.load(std::memory_order_acquire) != 2 || me.bytes < 2) {
        return;
      }
      const std::size_t half = me.bytes / 2;
      time_stream(me, "kernel", [&] {
        (void)(me.first ? me.write_partner(0, half) : me.read_partner(half, me.bytes - half));
      });
    });
  }
}

}  // namespace sinew::tool::floors
