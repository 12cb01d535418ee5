// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/ucx/endpoint.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "fabric/ucx/connect_watch.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/last_words.hpp"
#include "sinew/base/memory.hpp"
#include "sinew/base/sentence.hpp"
#include "sinew/fabric/corrupt.hpp"

namespace sinew::fabric::ucx {
namespace {

/// A rank that has lost another one waits so long before it ends the job: the launcher, who may
/// know why, is to speak first. Longer if it has said that it will.
constexpr std::int64_t grace_ns = 3'000'000'000;
constexpr std::int64_t judged_grace_ns = 20'000'000'000;
/// Leaving takes no longer than this, whatever the peers do.
constexpr std::int64_t longest_leave_ns = 2'000'000'000;
/// Calls of UCX's progress in a row, while they bring something.
constexpr int most_steps = 16;
/// So many messages at once are of several threads: of two that exchange, one may be a step ahead.
constexpr int many = 3;

/// The transport and device of a lane, from a line of ucp_ep_print_info():
/// "#   lane[0]:  2:tcp/eth0.0 md[1]  -> md[1]/tcp/..." gives "tcp/eth0". Empty for other lines.
std::string lane_of(std::string_view line) {
  const std::size_t lane = line.find("lane[");
  const std::size_t head = line.find("]:", lane);
  if (lane == std::string_view::npos || head == std::string_view::npos) {
    return {};
  }
  line.remove_prefix(std::min(line.find_first_not_of(' ', head + 2), line.size()));
  line = line.substr(0, line.find(' '));
  line.remove_prefix(line.find(':') + 1);    // the resource's number; none: npos + 1 is 0
  const std::size_t path = line.rfind('.');  // of several on one device
  return std::string(line.substr(0, path));
}

}  // namespace

void ucx_endpoint::enter_slowly(who is) noexcept {
  if (is == who::sender) {
    senders_.fetch_add(1, std::memory_order_relaxed);
    lock_.acquire();
    senders_.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  if (senders_.load(std::memory_order_relaxed) != 0) {
    // Wait: none, one turn for others.
    sched_yield();
  }
  lock_.acquire();
}

ucx_endpoint::ucx_endpoint(std::shared_ptr<worker> by, seat at, address_source addresses,
                           loss_listener on_loss, rank_names names)
    : by_(std::move(by)),
      rank_(at.rank),
      threads_(at.threads),
      survives_(at.survives),
      batches_(at.batches && at.threads && names.number_of == nullptr),
      tags_(by_->tags()),
      addresses_(std::move(addresses)),
      on_loss_(std::move(on_loss)),
      names_(std::move(names)),
      peers_(static_cast<std::size_t>(at.ranks)) {
  free_requests_.reserve(most_requests);
  for (std::uint32_t i = most_requests; i-- > 0;) {
    free_requests_.push_back(i);
  }
  bell_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  SINEW_CHECK(bell_ >= 0, "cannot make an event descriptor", std::strerror(errno),
              "raise the limit of open files (ulimit -n)");
  by_->set_receiver(on_arrival, this);
  if (batches_) {
    flusher_.prepare();
  }
}

ucx_endpoint::~ucx_endpoint() {
  leave();
  const guard held(*this);
  for (const auto& p : peers_) {
    if (p != nullptr && p->way != nullptr) {
      close_way(*p);
    }
  }
  close(bell_);
}

void ucx_endpoint::close_way(peer& p) noexcept {
  SINEW_EXPECT(p.way != nullptr);
  close_endpoint(*by_, p.way, hears_of_deaths() ? UCP_EP_CLOSE_FLAG_FORCE : ucp_ep_close_flags_t{});
  p.way = nullptr;
}

// UCX notices the end of a connection only, and makes one only for a message.
void ucx_endpoint::open_way(job_rank rank) {
  const guard held(*this);
  SINEW_EXPECT(among_jobs() && rank.below(size()));
  peer& p = peer_of(rank);
  if (rank != rank_ && p.way == nullptr && p.lost == UCS_OK) {
    post_counts(p);
  }
}

// What UCX still has of it refers to the peer, which therefore stays where it is.
void ucx_endpoint::forget(job_rank rank) {
  const guard held(*this, who::poller);
  SINEW_EXPECT(among_jobs() && rank.below(size()));
  peer* const p = peers_[rank.index()].get();
  if (p == nullptr) {
    return;
  }
  if (p->way != nullptr) {
    close_way(*p);
  }
  for (incoming*& r : p->arrived) {
    if (r != nullptr) {
      records_.give_back(r);
    }
  }
  SINEW_ASSERT(p->batch == nullptr);  // among jobs nothing is gathered
  std::erase(ready_, p);
  std::erase(reports_due_, p);
  std::erase(untold_, p);
  std::erase_if(answers_, [p](const answer& a) { return a.to == p; });
  std::destroy_at(p);
  std::construct_at(p);
  p->home = this;
  p->rank = rank;
}

std::string ucx_endpoint::transports_to(job_rank rank) {
  SINEW_EXPECT(rank.below(size()));
  const guard held(*this);
  const peer* const p = peers_[rank.index()].get();
  if (p == nullptr || p->way == nullptr) {
    return rank == rank_ ? "self" : "";
  }
  const std::string told = info_of(p->way);
  std::string found;
  std::string_view rest(told);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string lane = lane_of(rest.substr(0, end));
    if (!lane.empty() && ("," + found + ",").find("," + lane + ",") == std::string::npos) {
      found += (found.empty() ? "" : ",") + lane;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return found;
}

void ucx_endpoint::set_handler(handler_id id, handler function, void* context) {
  SINEW_EXPECT(id < max_handlers && function != nullptr);
  handlers_[id] = {function, context};
}

peer& ucx_endpoint::make_peer(job_rank rank) {
  std::unique_ptr<peer>& p = peers_[rank.index()];
  SINEW_EXPECT(p == nullptr);
  p = std::make_unique<peer>();
  p->home = this;
  p->rank = rank;
  return *p;
}

/// Empty if there is none, which has been told then.
std::string ucx_endpoint::address_of(const peer& p) const noexcept {
  try {
    return addresses_(p.rank);
  } catch (const std::exception& e) {
    base::last_words().add("sinew: error: ").add(as_clause(e.what())).add(".\n").write();
    return {};
  }
}

bool ucx_endpoint::connect(peer& p) {
  SINEW_EXPECT(p.way == nullptr && p.rank != rank_);
  const std::string address = address_of(p);
  if (address.empty() && among_jobs()) {
    base::last_words()
        .add("sinew: error: a rank of another job cannot be reached: this rank has not been told ")
        .add("its address.\n")
        .write();
  }
  const ucs_status_t made = address.empty() ? UCS_ERR_UNREACHABLE : make_way(p, address);
  if (made != UCS_OK) {
    p.way = nullptr;
    lose(p, made);
  }
  return made == UCS_OK;
}

ucs_status_t ucx_endpoint::make_way(peer& p, const std::string& address) noexcept {
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(address.data());
  params.err_mode = hears_of_deaths() ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
  params.err_handler = {on_lost, &p};
  if (!on_loss_ || among_jobs() || lost_ != nullptr) {
    return ucp_ep_create(by_->get(), &params, &p.way);
  }
  const auto tell = [this, &p](const char* why) {
    base::must_have_memory("telling of a lost rank", [&] { (void)on_loss_(p.rank, why); });
  };
  connect_watch watch([&] { tell("nothing answers there"); });
  const ucs_status_t made = ucp_ep_create(by_->get(), &params, &p.way);
  if (watch.end() && made == UCS_OK) {
    tell("");
  }
  return made;
}

outgoing* ucx_endpoint::take_packet_surely() {
  outgoing* const o = packets_.take(0, SIZE_MAX);
  SINEW_ENSURE(o != nullptr);
  return o;
}

/// Hands a packet to UCX, which reads header and data until on_sent(). What is for a lost peer
/// disappears: the job is about to end, or goes on without it.
void ucx_endpoint::post(peer& to, outgoing& o, const void* data, std::size_t size, bool eager) {
  SINEW_EXPECT(o.next == nullptr && (data != nullptr || size == 0));
  o.home = this;
  o.to = &to;
  wire& w = o.head();
  w.source = static_cast<std::uint32_t>(rank_.value());
  w.format = wire_format;
  w.consumed = to.consumed.load(std::memory_order_relaxed);
  to.reported.store(w.consumed, std::memory_order_relaxed);
  w.puts_done = to.reported_puts = to.puts_done;
  ++in_flight_;
  if (to.given_up) [[unlikely]] {
    to.acknowledged = to.sent;
    to.puts_acknowledged = to.puts_sent;
  }
  if (to.lost != UCS_OK || (to.way == nullptr && !connect(to))) {
    sent(o);
    return;
  }
  ucp_request_param_t how{};
  how.op_attr_mask =
      UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  how.flags = eager ? UCP_AM_SEND_FLAG_EAGER : 0;
  how.cb.send = on_sent;
  how.user_data = &o;
  std::byte* const head = o.data - head_bytes();
  if (among_jobs()) {
    std::memcpy(head, &names_.own, sizeof names_.own);
  }
  void* const begun =
      data == o.data || size == 0
          ? ucp_am_send_nbx(to.way, message_id, nullptr, 0, head, head_bytes() + size, &how)
          : ucp_am_send_nbx(to.way, message_id, head, head_bytes(), data, size, &how);
  if (!UCS_PTR_IS_PTR(begun)) {
    sent(o);
    if (UCS_PTR_IS_ERR(begun)) {
      lose(to, UCS_PTR_STATUS(begun));
    }
  }
}

void ucx_endpoint::sent(outgoing& o) noexcept {
  SINEW_EXPECT(in_flight_ > 0 && o.home == this);
  --in_flight_;
  if (o.when_done.call != nullptr) {
    base::must_have_memory("ending a put", [&] { finished_.push_back(o.when_done); });
    o.when_done = {nullptr, nullptr};
  }
  packets_.give_back(&o);
  news_ = news_ || refused_;
}

void ucx_endpoint::on_sent(void* ucx_request, ucs_status_t /*on_lost() tells*/,
                           void* user_data) noexcept {
  auto& o = *static_cast<outgoing*>(user_data);
  o.home->sent(o);
  ucp_request_free(ucx_request);
}

/// From inside UCX, under the lock.
ucs_status_t ucx_endpoint::on_arrival(void* self, const void* head, std::size_t head_bytes,
                                      void* data, std::size_t bytes,
                                      const ucp_am_recv_param_t* how) noexcept {
  auto& me = *static_cast<ucx_endpoint*>(self);
  const bool rendezvous = (how->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
  wire w{};
  if (head_bytes == 0 && bytes >= me.head_bytes() && !rendezvous) [[likely]] {
    head_bytes = me.head_bytes();
    head = data;
    data = static_cast<std::byte*>(data) + head_bytes;
    bytes -= head_bytes;
  }
  if (head_bytes != me.head_bytes()) [[unlikely]] {
    corrupt_peer(-1, "a message over the network has a header of another size", head_bytes);
  }
  const std::size_t name_bytes = head_bytes - sizeof w;
  // Copied, since UCX aligns nothing.
  std::memcpy(&w, static_cast<const std::byte*>(head) + name_bytes, sizeof w);
  if (me.among_jobs()) {
    std::uint64_t name = 0;
    std::memcpy(&name, head, sizeof name);
    const job_rank from = me.names_.number_of(name);
    if (from == no_job_rank) {
      return UCS_OK;  // who has told of it, or will find no room for it
    }
    w.source = static_cast<std::uint32_t>(from.value());
  }
  base::must_have_memory("taking a message from the network",
                         [&] { me.arrived({w, data, bytes, rendezvous}); });
  return rendezvous ? UCS_INPROGRESS : UCS_OK;
}

void ucx_endpoint::arrived(const delivery& d) {
  const wire& w = d.head;
  if (w.format != wire_format || static_cast<std::uint8_t>(w.what) >= kinds ||
      w.source >= peers_.size() || w.source == rank_.index()) [[unlikely]] {
    corrupt_peer(job_rank::of_index(w.source),
                 "the header of a message over the network is unknown", w.format);
  }
  peer& from = peer_of(job_rank::of_index(w.source));
  if (from.given_up) [[unlikely]] {  // it was thought dead, and soon will be
    if (d.rendezvous) {
      ucp_am_data_release(by_->get(), d.data);
    }
    return;
  }
  note_counts(from, w);
  switch (w.what) {
    case kind::message:
    case kind::batch:
      return arrived_message(d);
    case kind::counts:
      return;
    case kind::put:
      return arrived_put(from, d);
    case kind::get:
      return arrived_get(from, d);
    case kind::atomic:
      return arrived_atomic(from, d);
    case kind::get_data:
    case kind::atomic_result:
      return arrived_answer(from, d);
  }
}

void ucx_endpoint::note_counts(peer& from, const wire& head) {
  if (later(head.consumed, from.sent) || later(head.puts_done, from.puts_sent)) [[unlikely]] {
    corrupt_peer(from.rank, "it acknowledges what was never sent", head.consumed);
  }
  // Messages may overtake each other, so a count may be older than what is known.
  if (later(head.consumed, from.acknowledged)) {
    from.acknowledged = head.consumed;
    news_ = news_ || refused_;
  }
  if (later(head.puts_done, from.puts_acknowledged)) {
    from.puts_acknowledged = head.puts_done;
    news_ = news_ || refused_;
  }
}

/// Lists a rank that is sent our counts, unless a message brings them before.
void ucx_endpoint::report_to(peer& to) {
  if (!to.report_due) {
    to.report_due = true;
    reports_due_.push_back(&to);
  }
}

/// Whether it can be sent something. Else its counts go with open_way() or the first message.
bool ucx_endpoint::is_known(const peer& p) const noexcept {
  return p.way != nullptr || !among_jobs() || !address_of(p).empty();
}

void ucx_endpoint::post_counts(peer& to) {
  outgoing* const o = take_packet_surely();
  o->head() = {};
  o->head().what = kind::counts;
  post(to, *o, nullptr, 0, true);
}

void ucx_endpoint::answer_all() {
  for (std::size_t i = 0; i < answers_.size(); ++i) {  // post() adds none, but may be called by one
    const answer a = answers_[i];
    outgoing* const o = take_packet_surely();
    o->head() = {};
    o->head().what = a.what;
    o->head().request = a.request;
    o->head().head.word[0] = a.old_value;
    post(*a.to, *o, a.data, a.bytes, a.bytes <= max_long_bytes);
  }
  answers_.clear();
  for (peer* const p : reports_due_) {
    p->report_due = false;
    if (p->rank != rank_ && (p->unreported() != 0 || p->reported_puts != p->puts_done) &&
        is_known(*p)) {
      post_counts(*p);
    }
  }
  reports_due_.clear();
}

int ucx_endpoint::progress(int budget) {
  SINEW_EXPECT(budget > 0);
  int happened = 0;
  chain<incoming> news;
  bool ended = false;
  {
    const guard held(*this, who::poller);
    asleep_ = false;
    if (!recent_.empty()) {
      send_batches();
    }
    while (incoming* const r = used_.take_first()) {
      records_.give_back(r);
    }
    for (int i = 0; i < most_steps; ++i) {
      const unsigned done = by_->progress();
      happened += static_cast<int>(done);
      if (done == 0 || arrived_.first != nullptr) {
        break;  // to look once more in vain costs what handling a message does
      }
    }
    if (!answers_.empty() || !reports_due_.empty()) {
      answer_all();
    }
    news = std::exchange(arrived_, {});
    ended = !finished_.empty() || !ended_.empty();
    if (ended) {
      finishing_.swap(finished_);
      ending_.swap(ended_);
    }
  }
  if (news.first != nullptr) {
    sort(news);
  }
  const int handled = ready_.empty() ? 0 : handle(budget);
  happened += handled;
  many_came_.store(handled >= many, std::memory_order_relaxed);
  if (ended) {
    happened += end_transfers() + end_tagged();
  }
  if (report_now_) {
    const guard held(*this, who::poller);
    answer_all();
    report_now_ = false;
  }
  if (lost_ != nullptr) [[unlikely]] {
    end_if_lost();
  }
  if (any_untold_.load(std::memory_order_relaxed)) [[unlikely]] {
    tell_lost();
  }
  happened_ += static_cast<std::uint64_t>(happened);
  return happened;
}

int ucx_endpoint::end_transfers() {
  const auto ended = static_cast<int>(finishing_.size());
  for (const callback& c : finishing_) {
    c.call(c.argument);
  }
  finishing_.clear();
  return ended;
}

// What it has sent before is handled first.
void ucx_endpoint::tell_lost() {
  std::vector<job_rank> told;
  {
    const guard held(*this, who::poller);
    std::erase_if(untold_, [&](const peer* p) {
      const bool due = !p->listed && arrived_.first == nullptr;
      if (due) {
        told.push_back(p->rank);
      }
      return due;
    });
    any_untold_.store(!untold_.empty(), std::memory_order_relaxed);
  }
  for (const job_rank each : told) {
    if (among_jobs()) {
      names_.lost(each);
    } else if (on_loss_) {
      (void)on_loss_(each, "the connection has broken");
    }
  }
}

// Its requests end here, but for those whose data UCX is bringing: closing the way ends these.
void ucx_endpoint::give_up(job_rank rank) {
  SINEW_EXPECT(survives_ && !among_jobs() && rank != rank_);
  const guard held(*this, who::poller);
  peer& p = peer_of(rank);
  if (std::exchange(p.given_up, true)) {
    return;
  }
  p.lost = p.lost == UCS_OK ? UCS_ERR_CANCELED : p.lost;
  std::erase(untold_, &p);
  if (p.way != nullptr) {
    close_way(p);
  }
  p.acknowledged = p.sent;
  p.puts_acknowledged = p.puts_sent;
  for (request& r : requests_) {
    if (r.peer == rank && !r.fetched) {
      finish(r);
    }
  }
}

bool ucx_endpoint::prepare_sleep() {
  const guard held(*this, who::poller);
  send_batches();
  if (arrived_.first != nullptr || !ready_.empty() || !finished_.empty() || !ended_.empty() ||
      !answers_.empty() || !reports_due_.empty()) {
    return false;
  }
  if (news_) {
    news_ = refused_ = false;
    return false;
  }
  asleep_ = by_->arm();
  return asleep_;
}

void ucx_endpoint::sleep(std::uint64_t timeout_ns) {
  if (!prepare_sleep()) {
    return;
  }
  pollfd bells[2] = {{bell_, POLLIN, 0}, {by_->event_descriptor(), POLLIN, 0}};
  const auto doze = [&](nfds_t on, std::uint64_t at_most_ns) {
    constexpr std::uint64_t second = 1'000'000'000;
    const timespec limit{static_cast<time_t>(at_most_ns / second),
                         static_cast<long>(at_most_ns % second)};
    // Wait: bounded; the waits of core call it, and watch.
    (void)ppoll(bells, on, &limit, nullptr);
  };
  const std::uint64_t pause = std::min(vain_.pause_ns(woken_, happened_), timeout_ns);
  if (pause != 0) {
    doze(1, pause);
  }
  if ((bells[0].revents & POLLIN) == 0) {
    doze(2, timeout_ns - pause);
  }
  woken_ = (bells[1].revents & POLLIN) != 0;
  std::uint64_t rung = 0;
  if ((bells[0].revents & POLLIN) != 0) {
    (void)!read(bell_, &rung, sizeof rung);
  }
}

void ucx_endpoint::wake() {
  const std::uint64_t once = 1;
  (void)!write(bell_, &once, sizeof once);  // if it is full, it is rung
}

void ucx_endpoint::leave() {
  const std::int64_t begun = now_ns();
  bool flushed = tags() == nullptr;
  while (now_ns() - begun < longest_leave_ns) {
    const guard held(*this, who::poller);
    send_batches();
    answer_all();
    while (by_->progress() != 0) {
    }
    flushed = flushed || flush_tagged();
    leaving_ = flushed && in_flight_ == 0 && answers_.empty() &&
               (among_jobs() ? all_acknowledged() : arrived_.first == nullptr);
    if (leaving_ || lost_ != nullptr) {
      break;
    }
  }
  if (tags() != nullptr) {
    drop_unreceived();
  }
  leaving_ = true;
}

// Among jobs no fence comes after this: a process that ends too early may take its last messages
// with it.
bool ucx_endpoint::all_acknowledged() const noexcept {
  return std::all_of(peers_.begin(), peers_.end(), [](const std::unique_ptr<peer>& p) {
    return p == nullptr || p->lost != UCS_OK || p->sent == p->acknowledged;
  });
}

void ucx_endpoint::on_lost(void* user_data, ucp_ep_h /*way*/, ucs_status_t why) noexcept {
  auto& p = *static_cast<peer*>(user_data);
  p.home->lose(p, why);
}

void ucx_endpoint::lose(peer& p, ucs_status_t why) noexcept {
  SINEW_EXPECT(why != UCS_OK);
  const bool known = p.lost != UCS_OK;
  p.lost = known ? p.lost : why;
  if (outlives_others()) {
    if (!known) {
      base::must_have_memory("telling that a rank is lost", [&] { untold_.push_back(&p); });
      any_untold_.store(true, std::memory_order_relaxed);
    }
    return;
  }
  if (lost_ == nullptr && !leaving_) {
    lost_ = &p;
    lost_at_ns_ = now_ns();
  }
}

void ucx_endpoint::end_if_lost() {
  if (leaving_) {
    return;
  }
  if (!loss_told_) {
    loss_told_ = true;
    base::must_have_memory("telling of a lost rank", [&] {
      others_judge_ = on_loss_ && on_loss_(lost_->rank, ucs_status_string(lost_->lost));
    });
  }
  if (now_ns() - lost_at_ns_ < (others_judge_ ? judged_grace_ns : grace_ns)) {
    return;
  }
  base::last_words()
      .add("sinew: error: rank ")
      .add_number(static_cast<std::uint64_t>(rank_.value()))
      .add(" has lost its connection to rank ")
      .add_number(static_cast<std::uint64_t>(lost_->rank.value()))
      .add(" (")
      .add(ucs_status_string(lost_->lost))
      .add("): that rank has ended, or the network between their hosts does not work. What was ")
      .add("under way is lost, so the job ends.\n")
      .write();
  std::_Exit(1);
}

}  // namespace sinew::fabric::ucx
