// SPDX-License-Identifier: BSD-3-Clause
// What every request to a rank of another node has in common: who has greeted, sending, answers.
#include "rma/far.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "rma/far_pipeline.hpp"
#include "rma/words.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/core/handlers.hpp"
#include "sinew/core/retry.hpp"
#include "sinew/fabric/corrupt.hpp"

namespace sinew::rma {
namespace {

/// An id: generation above, the entry's number plus one below.
constexpr unsigned id_bits = 16;
constexpr std::uint32_t id_mask = (1u << id_bits) - 1;
constexpr std::size_t most_requests = id_mask - 1;
constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

/// To every rank of another node.
std::size_t longest_message(const engine& e) {
  const fabric::endpoint& net = e.runtime().endpoint();
  std::size_t longest = e.maps_all() ? net.bounds().max_medium : no_limit;
  for (job_rank r = 0; r.below(e.size()); ++r) {
    if (!e.maps(r)) {
      longest = std::min(longest, net.longest_to(r));
    }
  }
  return longest;
}

std::string mebibytes(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

}  // namespace

far_ranks::far_ranks(engine& e, heap_sizes sizes)
    : engine_(e),
      runtime_(e.runtime()),
      sizes_(sizes),
      rank_(e.rank()),
      room_(longest_message(e)),
      known_(std::make_unique<std::atomic<acquaintance*>[]>(static_cast<std::size_t>(e.size()))),
      told_(e.size()),
      losses_(core::losses::of(runtime_)) {
  SINEW_CHECK(room_ >= 1024, "heaps of other nodes cannot be reached",
              "the fabric's messages hold " + std::to_string(room_) + " bytes", "");
  key_ = runtime_.endpoint().expose(e.parts_[rank_.index()], e.shape_.bytes);
  chore_ = runtime_.add_chore([](void* self) { return static_cast<far_ranks*>(self)->send_kept(); },
                              this);
  losses_.listen(
      core::loss_listener::memory,
      [](void* self, job_rank dead) { static_cast<far_ranks*>(self)->end_requests_to(dead); },
      this);
}

far_ranks::~far_ranks() {
  runtime_.drop_chore(chore_);
  losses_.stop_listening(core::loss_listener::memory);
  runtime_.endpoint().withdraw(key_);
}

wire::greeting far_ranks::own_greeting() const noexcept {
  return {reinterpret_cast<std::uintptr_t>(engine_.parts_[rank_.index()]), key_, sizes_.symmetric,
          sizes_.local};
}

void far_ranks::heaps_differ(job_rank r, const wire::greeting& theirs) const {
  const auto both = [](std::uint64_t symmetric, std::uint64_t local) {
    return mebibytes(symmetric) + " and " + mebibytes(local);
  };
  throw error("the heap of rank " + to_string(r) + " cannot be reached",
              "it has " + both(theirs.symmetric, theirs.local) + " for symmetric and local " +
                  "objects, and this rank " + both(sizes_.symmetric, sizes_.local) +
                  "; one offset must name the same object on all ranks",
              "give SINEW_RMA_HEAP and SINEW_RMA_LOCAL_HEAP the same values on all nodes");
}

void far_ranks::end_requests_to(job_rank dead) {
  const base::guard held(requests_lock_, runtime_.threaded());
  for (request*& listed : requests_) {
    if (listed != nullptr && listed->from == dead) {
      request& its = *std::exchange(listed, nullptr);
      free_ids_.push_back(its.id);
      end(its);
    }
  }
}

/// A request that was listed after end_requests_to() has gone through them.
void far_ranks::end_if_dead(std::uint32_t id, job_rank from) {
  if (!losses_.is_gone(from)) [[likely]] {
    return;
  }
  const base::guard held(requests_lock_, runtime_.threaded());
  request*& listed = requests_[(id & id_mask) - 1];
  if (listed != nullptr && listed->id == id) {
    free_ids_.push_back(id);
    end(*std::exchange(listed, nullptr));
  }
}

/// Under the lock, and not listed any more. Whoever waits for it may take it apart at once.
void far_ranks::end(request& r) noexcept { r.turn != 0 ? end_get(r) : r.done.complete(); }

far_ranks::request& far_ranks::new_get() {
  // As many as keep a network busy, and a bound to what others have to answer.
  constexpr std::uint64_t most_gets = 64;
  const auto has_room = [](void* self) {
    const auto& of = *static_cast<far_ranks*>(self);
    return of.gets_begun_.load(std::memory_order_relaxed) -
               of.gets_done_.load(std::memory_order_acquire) <
           most_gets;
  };
  if (!has_room(this)) {
    runtime_.wait_until(has_room, this);
  }
  const base::guard held(requests_lock_, runtime_.threaded());
  if (free_gets_.empty()) {
    free_gets_.reserve(gets_.size() + 1);  // end_get() cannot fail
    gets_.push_back(std::make_unique<request>());
    free_gets_.push_back(gets_.back().get());
  }
  request& r = *free_gets_.back();
  free_gets_.pop_back();
  SINEW_ENSURE(r.id == 0 && r.turn == 0);
  return r;
}

void far_ranks::begin_get(request& r, job_rank from, wire::head head,
                          std::span<const std::byte> data) {
  (void)meet(from);
  {
    const base::guard held(requests_lock_, runtime_.threaded());
    gets_ended_.push_back(false);
    r.turn = gets_begun_.load(std::memory_order_relaxed) + 1;
    gets_begun_.store(r.turn, std::memory_order_relaxed);
  }
  enlist(r, from);
  const std::uint32_t id = r.id;  // `r` may be another's once it is sent
  head.request = id;
  send(from, head, data.data(), data.size());
  end_if_dead(id, from);
}

void far_ranks::end_get(request& r) noexcept {
  std::uint64_t done = gets_done_.load(std::memory_order_relaxed);
  SINEW_EXPECT(r.turn > done && r.turn - done <= gets_ended_.size());
  gets_ended_[r.turn - done - 1] = true;
  r.id = 0;
  r.turn = 0;
  r.runs.clear();
  free_gets_.push_back(&r);
  for (; !gets_ended_.empty() && gets_ended_.front(); ++done) {
    gets_ended_.pop_front();
  }
  gets_done_.store(done, std::memory_order_release);
}

void far_ranks::finish_gets() {
  struct {
    const far_ranks& of;
    std::uint64_t last;
  } all{*this, gets_begun()};
  using wanted = decltype(all);
  const auto done = [](void* w) {
    const auto& [of, last] = *static_cast<wanted*>(w);
    return of.gets_ended(last);
  };
  if (!done(&all)) {
    runtime_.wait_until(done, &all);
  }
}

/// Asks the rank, which answers once it has opened its engine, or dies before. Those whose heaps
/// are mapped need not be known.
const far_ranks::acquaintance& far_ranks::meet(job_rank r) {
  static const acquaintance nobody{{}, true};
  SINEW_EXPECT(r.below(engine_.size()) && r != rank_);
  if (engine_.maps(r)) {
    return nobody;
  }
  std::atomic<acquaintance*>& known = known_[r.index()];
  if (known.load(std::memory_order_acquire) == nullptr) [[unlikely]] {
    const wire::greeting mine = own_greeting();
    wire::head head{.what = wire::kind::hello, .where = 1};
    core::retry_loop tries(runtime_);
    while (!try_send(r, wire::packed(head), &mine, sizeof mine)) {
      tries.again();
    }
    struct {
      const far_ranks& all;
      job_rank rank;
    } awaited{*this, r};
    using awaited_rank = decltype(awaited);
    runtime_.wait_until(
        [](void* a) {
          const auto& [all, rank] = *static_cast<awaited_rank*>(a);
          return all.known_[rank.index()].load(std::memory_order_acquire) != nullptr ||
                 all.losses_.is_gone(rank);
        },
        &awaited);
    if (known.load(std::memory_order_acquire) == nullptr) {
      return nobody;
    }
  }
  const acquaintance& found = *known.load(std::memory_order_acquire);
  if (!found.alike) [[unlikely]] {
    heaps_differ(r, found.said);
  }
  return found;
}

bool far_ranks::try_send(job_rank to, const fabric::header& head, const void* data,
                         std::size_t bytes) {
  SINEW_EXPECT(bytes <= room_to(to));
  fabric::endpoint& net = runtime_.endpoint();
  if (wire::may_wait(wire::unpacked(head))) {
    return net.send_lazily(to, core::handlers::rma, head, data, bytes).done();
  }
  return bytes <= net.bounds().max_short
             ? net.send_short(to, core::handlers::rma, head, data, bytes).done()
             : net.send_medium(to, core::handlers::rma, head, data, bytes).done();
}

void far_ranks::send(job_rank to, const wire::head& head, const void* data, std::size_t bytes) {
  (void)meet(to);
  if (!try_send(to, wire::packed(head), data, bytes)) [[unlikely]] {
    core::retry_loop tries(runtime_);
    while (!try_send(to, wire::packed(head), data, bytes)) {
      tries.again();
    }
  }
  if (head.request == 0 && head.what != wire::kind::wake) {
    told_.note(to);
  }
}

void far_ranks::enlist(request& r, job_rank from) {
  const base::guard held(requests_lock_, runtime_.threaded());
  SINEW_EXPECT(r.id == 0);
  if (free_ids_.empty()) {
    SINEW_CHECK(requests_.size() < most_requests, "too many requests to other nodes are under way",
                "the limit is " + std::to_string(most_requests), "use fewer threads");
    free_ids_.reserve(requests_.size() + 1);
    requests_.push_back(nullptr);
    free_ids_.push_back(static_cast<std::uint32_t>(requests_.size()));
  }
  const std::uint32_t before = free_ids_.back();
  free_ids_.pop_back();
  r.id = before + (1u << id_bits);  // another generation, which wraps
  r.from = from;
  requests_[(r.id & id_mask) - 1] = &r;
}

void far_ranks::await(request& r) {
  SINEW_EXPECT(r.id != 0);
  runtime_.wait(r.done);
  r.id = 0;
  r.runs.clear();
  r.done.reset();
}

void far_ranks::take_answer(job_rank source, const wire::head& h,
                            const fabric::arrival& m) noexcept {
  request* r = nullptr;
  {
    const base::guard held(requests_lock_, runtime_.threaded());
    const std::size_t index = (h.request & id_mask) - 1;
    r = index < requests_.size() ? requests_[index] : nullptr;
    if (r == nullptr || r->id != h.request || r->from != source) [[unlikely]] {
      fabric::corrupt_peer(source, "an answer about a heap fits no request", h.request);
    }
    requests_[index] = nullptr;
    free_ids_.push_back(h.request);  // has room: enlist() has made it
  }
  if (m.size != r->bytes) [[unlikely]] {
    fabric::corrupt_peer(source, "an answer about a heap has another size", m.size);
  }
  const std::byte* from = m.data;
  if (r->runs.empty()) {
    engine::move_in(r->into, from, m.size);
  }
  for (const near_run& n : r->runs) {
    for (std::size_t i = 0; i < n.count; ++i, from += n.bytes) {
      const std::ptrdiff_t at = n.index != nullptr ? n.index[i] : static_cast<std::ptrdiff_t>(i);
      copy_bytes(n.base + at * n.stride, from, n.bytes);
    }
  }
  if (r->turn != 0) {
    const base::guard held(requests_lock_, runtime_.threaded());
    return end_get(*r);
  }
  r->done.complete();  // `r` may be gone
}

void far_ranks::flush(std::span<const job_rank> ranks) {
  std::vector<std::uint32_t> told;
  told.reserve(ranks.size());
  pipeline line(*this);
  for (const job_rank r : ranks) {
    told.push_back(told_.sent(r));
    if (!told_.open(r)) {
      continue;
    }
    request& asked = line.next(r);
    send(r, {.what = wire::kind::flush, .request = asked.id}, nullptr, 0);
  }
  line.finish();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    told_.settle(ranks[i], told[i]);
  }
}

void far_ranks::wake(job_rank r) { send(r, {}, nullptr, 0); }

std::uint64_t far_ranks::change(const target& at, const engine::word_change& how) {
  SINEW_EXPECT((how.what.width == 4 || how.what.width == 8) && at.where % how.what.width == 0);
  std::uint64_t before = 0;
  pipeline line(*this);
  request& asked = line.next(at.rank);
  asked.into = reinterpret_cast<std::byte*>(&before);
  asked.bytes = sizeof before;
  const wire::operands with{how.operand, how.compare};
  send(at.rank,
       {.what = wire::kind::change,
        .in = at.in,
        .a = static_cast<std::uint8_t>(how.what.op),
        .b = how.what.width,
        .request = asked.id,
        .where = at.where},
       &with, sizeof with);
  line.finish();
  return before;
}

void far_ranks::tell(const target& at, const engine::word_change& how) {
  SINEW_EXPECT((how.what.width == 4 || how.what.width == 8) && at.where % how.what.width == 0);
  const wire::operands with{how.operand, how.compare};
  send(at.rank,
       {.what = wire::kind::change,
        .in = at.in,
        .a = static_cast<std::uint8_t>(how.what.op),
        .b = how.what.width,
        .where = at.where},
       &with, sizeof with);
}

// --- the engine's calls ---

void engine::put_far(place to, const void* from, std::size_t bytes) {
  far_->put(far_ranks::at(to), from, bytes);
  puts_.note(to.rank);
}

void engine::finish_gets() { far_->finish_gets(); }

std::uint64_t engine::gets_begun() const noexcept { return far_->gets_begun(); }

bool engine::gets_ended(std::uint64_t first) const noexcept { return far_->gets_ended(first); }

void engine::get_far(void* to, place from, std::size_t bytes) {
  far_->get(to, far_ranks::at(from), bytes);
}

std::uint64_t engine::load_far(place p, std::size_t width) const {
  constexpr auto nothing = fabric::atomic_op::fetch_or;  // of no bits
  return far_->change(far_ranks::at(p), {{nothing, static_cast<std::uint8_t>(width)}, 0, 0});
}

std::uint64_t engine::change_later(place p, word_kind what, std::uint64_t operand,
                                   std::uint64_t compare) {
  order_far_puts(p.rank);
  std::uint64_t before = 0;
  if (maps(p.rank)) {
    before = fabric::apply_atomic(what.op, at(p), what.width, operand, compare);
    alert(p.rank);
  } else {
    before = far_->change(far_ranks::at(p), {what, operand, compare});
    forget_copies();
  }
  return before;
}

void engine::tell_later(place p, word_kind what, std::uint64_t operand, told noted) {
  if (maps(p.rank)) {
    (void)change_later(p, what, operand, 0);
    return;
  }
  order_far_puts(p.rank);
  far_->tell(far_ranks::at(p), {what, operand, 0});
  if (noted != told::unnoted) {
    (noted == told::as_put ? puts_ : words_).note(p.rank);
  }
  forget_copies();
}

void engine::post_far(place p, word_kind what, std::uint64_t operand) {
  far_->tell(far_ranks::at(p), {what, operand, 0});
  puts_.note(p.rank);
}

void engine::wake_far(job_rank r) {
  forget_copies();
  far_->wake(r);
}

void engine::flush_far(const ledger& those_of, job_rank but) {
  if (!those_of.open_but(but, runtime_.threaded()) || (maps_all_ && !far_->has_told())) {
    return;
  }
  struct mark {
    std::uint32_t puts, words;
  };
  std::vector<job_rank> ranks;
  std::vector<mark> sent;
  for (job_rank r = 0; r.below(size_); ++r) {
    if (r != but && those_of.open(r) && (!maps(r) || far_->has_told(r))) {
      ranks.push_back(r);
      sent.push_back({puts_.sent(r), words_.sent(r)});
    }
  }
  far_->flush(ranks);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (!maps(ranks[i])) {
      puts_.settle(ranks[i], sent[i].puts);
      words_.settle(ranks[i], sent[i].words);
    }
  }
}

}  // namespace sinew::rma
