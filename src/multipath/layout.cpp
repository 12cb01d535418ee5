// SPDX-License-Identifier: BSD-3-Clause
// Setting up: who plans, and where everything lies in everybody's block.
#include <algorithm>
#include <cstring>
#include <string>

#include "multipath/paths.hpp"
#include "multipath/relay.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/rma/place.hpp"

namespace sinew::multipath {
namespace {

using rma::part;
using route::job_list;

constexpr std::uint64_t least_chunk = 1 << 10;

std::uint64_t rounded(std::uint64_t bytes) { return (bytes + 63) / 64 * 64; }

void check_ranks(int ranks, const route::topology& net, const transfer_options& o) {
  const std::uint64_t wanted = std::uint64_t{net.endpoints()} * o.ranks_per_node;
  SINEW_CHECK(wanted == static_cast<std::uint64_t>(ranks), net.name() + " does not fit this job",
              "it has " + std::to_string(net.endpoints()) + " endpoints with " +
                  std::to_string(o.ranks_per_node) + " ranks each, the job has " +
                  std::to_string(ranks) + " ranks",
              "");
  SINEW_CHECK(o.slots > 0 && o.plan.costs.chunk > 0, "nothing can be carried",
              "slots and the size of a chunk must not be 0", "");
}

/// Text or words from rank 0 to all; the words of its block stay until everybody has them.
struct announcement {
  std::uint64_t offset = 0;
  std::uint64_t count = 0;
  std::uint64_t failed = 0;  ///< the words are the three parts of an error
};

std::vector<std::uint64_t> words_of(const error& e) {
  std::vector<std::uint64_t> words;
  for (const std::string* text : {&e.problem(), &e.why(), &e.hint()}) {
    words.push_back(text->size());
    const std::size_t at = words.size();
    words.resize(at + (text->size() + 7) / 8);
    std::memcpy(words.data() + at, text->data(), text->size());
  }
  return words;
}

[[noreturn]] void throw_words(const std::vector<std::uint64_t>& words) {
  std::string text[3];
  std::size_t at = 0;
  for (std::string& t : text) {
    t.resize(words[at++]);
    std::memcpy(t.data(), words.data() + at, t.size());
    at += (t.size() + 7) / 8;
  }
  SINEW_ASSERT(at == words.size());
  throw error(text[0], text[1], text[2]);
}

/// Every rank gets what rank 0 makes, or throws what rank 0 threw. `box` is symmetric.
std::vector<std::uint64_t> from_rank_0(rma::engine& e, std::uint64_t box,
                                       const std::function<std::vector<std::uint64_t>()>& make) {
  announcement a;
  if (e.rank() == 0) {
    std::vector<std::uint64_t> words;
    try {
      words = make();
      a.offset = e.memory().allocate(part::local, words.size() * 8);
    } catch (const error& failure) {
      a.failed = 1;
      words = words_of(failure);
      a.offset = e.memory().allocate(part::local, words.size() * 8);
    }
    a.count = words.size();
    e.put({0, a.offset}, words.data(), words.size() * 8);
    for (job_rank r = 0; r.below(e.size()); ++r) {
      e.put({r, box}, &a, sizeof a);
    }
  }
  e.sync_all();
  e.get(&a, {e.rank(), box}, sizeof a);
  std::vector<std::uint64_t> words(a.count);
  e.get(words.data(), {0, a.offset}, a.count * 8);
  e.sync_all();
  if (e.rank() == 0) {
    e.memory().release(a.offset);
  }
  if (a.failed != 0) {
    throw_words(words);
  }
  return words;
}

}  // namespace

std::vector<std::uint64_t> row_of(const job_list& jobs, job_rank rank, int size) {
  std::vector<std::uint64_t> row(static_cast<std::size_t>(size));
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (jobs.source[j] == static_cast<route::node_id>(rank.value())) {
      row.at(jobs.destination[j]) += jobs.bytes[j];
    }
  }
  return row;
}

transfer::transfer(rma::engine& e, const route::topology& net,
                   std::span<const std::uint64_t> send_bytes, const transfer_options& options)
    : engine_(e), options_(options), rank_(e.rank()), size_(e.size()) {
  check_ranks(size_, net, options);
  const auto n = static_cast<std::size_t>(size_);
  SINEW_CHECK(send_bytes.size() == n, "the list of bytes to send does not fit this job",
              "it has " + std::to_string(send_bytes.size()) + " numbers for " + std::to_string(n) +
                  " ranks",
              "");
  to_.assign(send_bytes.begin(), send_bytes.end());
  from_.resize(n);
  const std::uint64_t box = e.memory().allocate(part::symmetric, sizeof(announcement) + n * 8);
  const std::uint64_t row = box + sizeof(announcement);
  e.put({rank_, row}, to_.data(), n * 8);
  e.sync_all();
  for (std::size_t r = 0; r < n; ++r) {
    e.get(&from_[r], {job_rank{static_cast<int>(r)}, row + 8 * rank_.index()}, 8);
  }
  try {
    const auto words = from_rank_0(e, box, [&] {
      job_list messages;
      job_list between_nodes;
      std::vector<std::uint64_t> counts(n);
      for (std::size_t r = 0; r < n; ++r) {
        e.get(counts.data(), {job_rank{static_cast<int>(r)}, row}, n * 8);
        for (std::size_t d = 0; d < n; ++d) {
          if (d == r || counts[d] == 0) {
            continue;
          }
          const auto from = static_cast<route::node_id>(r);
          const auto to = static_cast<route::node_id>(d);
          messages.add(from, to, counts[d]);
          between_nodes.add(from / options_.ranks_per_node, to / options_.ranks_per_node,
                            counts[d]);
        }
      }
      route::plan_options how = options_.plan;
      how.costs = route::machine_of(net, how.costs);
      return paths::of(net, route::make_plan(net, between_nodes, how), messages, options_).flat();
    });
    e.memory().release(box);
    settle(paths::from_flat(words));
  } catch (...) {
    if (e.memory().bytes_of(box) != 0) {
      e.memory().release(box);
    }
    throw;
  }
}

transfer::transfer(rma::engine& e, const route::topology& net, const route::route_plan& plan,
                   const transfer_options& options)
    : engine_(e), options_(options), rank_(e.rank()), size_(e.size()) {
  check_ranks(size_, net, options);
  SINEW_CHECK(options.ranks_per_node == 1, "a given plan is between nodes",
              "with several ranks on a node it does not say which rank sends what",
              "give the bytes to send instead");
  route::check_plan(net, plan);
  to_ = row_of(plan.jobs, rank_, size_);
  from_.resize(static_cast<std::size_t>(size_));
  for (std::size_t j = 0; j < plan.jobs.size(); ++j) {
    if (plan.jobs.destination[j] == static_cast<route::node_id>(rank_.value())) {
      from_[plan.jobs.source[j]] += plan.jobs.bytes[j];
    }
  }
  settle(paths::of(net, plan, plan.jobs, options_));
}

void transfer::settle(const paths& all) {
  beats_.resize(static_cast<std::size_t>(size_));
  link_free_ns_.resize(static_cast<std::size_t>(size_));
  lay_out(all);
  // Nobody may write here before the old contents are gone, so the words are cleared before the
  // ranks meet; the rings need no clearing.
  std::memset(engine_.at({rank_, block_}), 0, rings_at_ - block_);
  for (const relay& s : relays_) {
    if (s.last() || s.after_is_last) {
      continue;  // the last rank gives room call by call
    }
    const std::uint64_t room = options_.slots;
    engine_.put({rank_, s.lines + offsetof(relay_lines, limit)}, &room, 8);
  }
  engine_.sync_all();
}

// The size of chunks is halved until the fullest rank's rings fit.
void transfer::choose_chunk(const paths& all, std::uint64_t head) {
  const auto stride = [&](std::size_t c) { return rounded(std::min(chunk_, all.bytes[c])); };
  std::vector<std::uint64_t> rings(static_cast<std::size_t>(size_));
  chunk_ = options_.plan.costs.chunk;
  if (!engine_.maps_all()) {
    chunk_ = std::min<std::uint64_t>(chunk_, rma::engine::long_put / 2);
  }
  for (;; chunk_ /= 2) {
    std::fill(rings.begin(), rings.end(), 0);
    for (std::size_t c = 0; c < all.size(); ++c) {
      for (const std::uint64_t stop : all[c].subspan(1)) {
        rings[stop] += options_.slots * stride(c);
      }
    }
    const std::uint64_t most = *std::max_element(rings.begin(), rings.end());
    block_bytes_ = head + most;
    if (most <= options_.memory) {
      break;
    }
    SINEW_CHECK(chunk_ / 2 >= least_chunk, "there is too little memory to forward messages",
                "a rank would hold " + std::to_string(most) +
                    " bytes for others even with chunks of " + std::to_string(chunk_) +
                    " bytes; the limit is " + std::to_string(options_.memory),
                "allow more, or fewer slots per path");
  }
  SINEW_ENSURE(chunk_ != 0 && block_bytes_ - head <= options_.memory);
}

// Every rank walks all paths in the same order, so it knows its neighbours' offsets without a
// word: a rank's relays and rings lie in the order of the paths.
void transfer::lay_out(const paths& all) {
  std::vector<std::uint32_t> relays(static_cast<std::size_t>(size_));
  for (const std::uint64_t stop : all.stops) {
    SINEW_EXPECT(stop < relays.size());
    ++relays[stop];
  }
  words_ = (*std::max_element(relays.begin(), relays.end()) + 63) / 64;
  const std::uint64_t lines_at = sizeof(block_head) + rounded(words_ * 8);
  const std::uint64_t head = lines_at + sizeof(relay_lines) * 64 * words_;
  choose_chunk(all, head);
  const auto stride = [&](std::size_t c) { return rounded(std::min(chunk_, all.bytes[c])); };
  block_ = engine_.memory().allocate(part::symmetric, block_bytes_);
  rings_at_ = block_ + head;
  std::fill(relays.begin(), relays.end(), 0);
  std::vector<std::uint64_t> rings(static_cast<std::size_t>(size_), rings_at_);
  for (std::size_t c = 0; c < all.size(); ++c) {
    const auto stops = all[c];
    neighbour before;
    for (std::size_t i = 0; i < stops.size(); ++i) {
      const auto rank = stops[i];
      neighbour here{job_rank{static_cast<int>(rank)}, relays[rank]++, 0, 0};
      SINEW_ASSERT(here.bit < 64 * words_ && here.rank != before.rank);
      here.lines = block_ + lines_at + sizeof(relay_lines) * here.bit;
      if (i > 0) {
        here.ring = rings[rank];
        rings[rank] += options_.slots * stride(c);
      }
      if (before.rank == rank_) {
        relays_.back().after = here;
        relays_.back().after_is_last = i + 1 == stops.size();
      }
      if (here.rank == rank_) {
        relay& s = relays_.emplace_back();
        s.bytes = all.bytes[c];
        s.offset = all.offset[c];
        s.source = job_rank{static_cast<int>(stops.front())};
        s.destination = job_rank{static_cast<int>(stops.back())};
        s.before = before;
        s.lines = here.lines;
        s.ring = here.ring;
        s.stride = stride(c);
        s.chunks = (s.bytes + chunk_ - 1) / chunk_;
        SINEW_ASSERT(s.chunks != 0);
        if (i + 1 < stops.size()) {
          chunks_moved_ += s.chunks;
          bytes_moved_ += s.bytes;
        }
      }
      before = here;
    }
  }
  SINEW_ENSURE(*std::max_element(rings.begin(), rings.end()) == block_ + block_bytes_);
}

transfer::~transfer() {
  if (block_ == 0) {
    return;
  }
  if (!verdict_.ok()) {
    return;  // somebody may be missing, others may still write: the block stays
  }
  engine_.sync_all();  // the last words to neighbours have been said
  engine_.memory().release(block_);
}

}  // namespace sinew::multipath
