// SPDX-License-Identifier: BSD-3-Clause
// Puts, gets and accumulates at ranks of other nodes, cut into messages.
#include <algorithm>
#include <cstring>

#include "rma/far_pipeline.hpp"
#include "rma/outside.hpp"
#include "rma/walk.hpp"
#include "sinew/base/check.hpp"
#include "sinew/core/retry.hpp"

namespace sinew::rma {

bool far_ranks::is_long(const target& t, std::size_t bytes) noexcept {
  return t.in == wire::space::heap && bytes >= engine::long_put;
}

void far_ranks::put(const target& to, const void* from, std::size_t bytes) {
  if (is_long(to, bytes)) {
    put_long(to, from, bytes);
    return;
  }
  const auto* source = static_cast<const std::byte*>(from);
  for (std::size_t at = 0; at < bytes; at += room()) {
    send(to.rank, {.what = wire::kind::put, .in = to.in, .where = to.where + at}, source + at,
         std::min(room(), bytes - at));
  }
}

// The fabric's transfers have no order with messages, so what was sent before must have been done,
// and what is sent next must find this one done. That may be a message of another module, which
// tells that the data are there: so it is done when this returns.
void far_ranks::put_long(const target& to, const void* from, std::size_t bytes) {
  const acquaintance& there = meet(to.rank);
  SINEW_EXPECT(to.in == wire::space::heap && bytes != 0);
  if (told_.open(to.rank)) {
    flush({&to.rank, 1});
  }
  fabric::endpoint& net = runtime_.endpoint();
  const fabric::remote_address at{there.said.base + to.where, there.said.key};
  core::carry_through(
      runtime_, [&](fabric::callback done) { return net.put(to.rank, from, at, bytes, done); });
  core::carry_through(runtime_, [&](fabric::callback) { return net.flush(to.rank); });
}

void far_ranks::get(void* to, const target& from, std::size_t bytes) {
  if (is_long(from, bytes)) {
    get_long(to, from, bytes);
    return;
  }
  auto* into = static_cast<std::byte*>(to);
  pipeline line(*this);
  for (std::size_t at = 0; at < bytes; at += room()) {
    request& asked = line.next(from.rank);
    asked.into = into + at;
    asked.bytes = std::min(room(), bytes - at);
    const std::uint64_t wanted = asked.bytes;
    send(from.rank,
         {.what = wire::kind::get, .in = from.in, .request = asked.id, .where = from.where + at},
         &wanted, sizeof wanted);
  }
  line.finish();
}

void far_ranks::get_long(void* to, const target& from, std::size_t bytes) {
  const acquaintance& there = meet(from.rank);
  SINEW_EXPECT(from.in == wire::space::heap && bytes != 0);
  if (told_.open(from.rank)) {
    flush({&from.rank, 1});
  }
  fabric::endpoint& net = runtime_.endpoint();
  const fabric::remote_address at{there.said.base + from.where, there.said.key};
  core::carry_through(
      runtime_, [&](fabric::callback done) { return net.get(from.rank, to, at, bytes, done); });
}

namespace {

/// Calls whole(far, near) for elements that no message holds, else some(run at far, near bytes) for
/// each row, or each element of one that is indexed there.
template <class Whole, class Some>
void each_run(const loops& section, std::uint64_t where, std::size_t most, Whole whole, Some some) {
  const std::size_t bytes = section.element;
  section.each_row([&](std::ptrdiff_t near, std::ptrdiff_t far, const axis& row) {
    if (bytes > most) {
      each_element(row, near, far, [&](std::ptrdiff_t n, std::ptrdiff_t f) {
        whole(where + static_cast<std::uint64_t>(f), n);
      });
    } else if (row.far_index == nullptr) {
      some({where + static_cast<std::uint64_t>(far), row.far_stride,
            static_cast<std::uint32_t>(bytes), 0},
           near, row);
    } else {
      each_element(row, near, far, [&](std::ptrdiff_t n, std::ptrdiff_t f) {
        some({where + static_cast<std::uint64_t>(f), 0, static_cast<std::uint32_t>(bytes), 0}, n,
             axis{});
      });
    }
  });
}

}  // namespace

/// Fills messages with runs and their elements.
class far_ranks::run_writer {
 public:
  run_writer(far_ranks& of, const target& to)
      : of_(of), to_(to), data_(std::make_unique_for_overwrite<std::byte[]>(of.room())) {}

  void add(wire::run r, const std::byte* near, const axis& row) {
    SINEW_EXPECT(r.bytes != 0 && r.bytes <= of_.room() - sizeof r);
    for (std::size_t i = 0; i < row.count;) {
      const std::size_t left = of_.room() - used_;
      if (left < sizeof r + r.bytes) {
        finish();
        continue;
      }
      const std::size_t n = std::min(row.count - i, (left - sizeof r) / r.bytes);
      r.count = static_cast<std::uint32_t>(n);
      std::memcpy(data_.get() + used_, &r, sizeof r);
      used_ += sizeof r;
      for (const std::size_t end = i + n; i < end; ++i, used_ += r.bytes) {
        const std::ptrdiff_t at =
            row.near_index != nullptr ? row.near_index[i] : static_cast<std::ptrdiff_t>(i);
        std::memcpy(data_.get() + used_, near + at * row.near_stride, r.bytes);
      }
      r.where += static_cast<std::uint64_t>(r.stride) * n;
    }
  }
  void finish() {
    if (used_ != 0) {
      of_.send(to_.rank, {.what = wire::kind::put_runs, .in = to_.in}, data_.get(), used_);
      used_ = 0;
    }
  }

 private:
  far_ranks& of_;
  target to_;
  std::unique_ptr<std::byte[]> data_;
  std::size_t used_ = 0;
};

void far_ranks::put_section(const target& to, std::byte* from, const loops& section) {
  run_writer out(*this, to);
  each_run(
      section, to.where, room() - sizeof(wire::run),
      [&](std::uint64_t far, std::ptrdiff_t near) {
        put({to.rank, to.in, far}, from + near, section.element);
      },
      [&](const wire::run& r, std::ptrdiff_t near, const axis& row) {
        out.add(r, from + near, row);
      });
  out.finish();
}

/// Asks for runs of elements, and waits until they are here.
class far_ranks::one_by_one {
 public:
  explicit one_by_one(far_ranks& of) : of_(of), line_(of) {}
  void ask(const target& from, std::vector<near_run>& near, std::size_t bytes,
           std::span<const wire::run> runs) {
    request& r = line_.next(from.rank);
    r.runs.swap(near);
    r.bytes = bytes;
    of_.send(from.rank, {.what = wire::kind::get_runs, .in = from.in, .request = r.id}, runs.data(),
             runs.size_bytes());
  }
  void finish() { line_.finish(); }

 private:
  far_ranks& of_;
  pipeline line_;
};

/// The same without waiting.
class far_ranks::many_later {
 public:
  explicit many_later(far_ranks& of) : of_(of) {}
  void ask(const target& from, std::vector<near_run>& near, std::size_t bytes,
           std::span<const wire::run> runs) {
    request& r = of_.new_get();
    r.runs.swap(near);
    r.bytes = bytes;
    of_.begin_get(r, from.rank, {.what = wire::kind::get_runs, .in = from.in}, std::as_bytes(runs));
  }
  void finish() {}

 private:
  far_ranks& of_;
};

/// Fills messages with runs that are asked for.
template <class Asker>
class far_ranks::run_reader {
 public:
  run_reader(far_ranks& of, const target& from) : of_(of), from_(from), asker_(of) {
    asked_.reserve(of.room() / sizeof(wire::run));
  }

  void add(wire::run r, std::byte* near, const axis& row) {
    SINEW_EXPECT(r.bytes != 0 && r.bytes <= of_.room());
    for (std::size_t i = 0; i < row.count;) {
      if (answer_ + r.bytes > of_.room() || asked_.size() == asked_.capacity()) {
        send();
        continue;
      }
      const std::size_t n = std::min(row.count - i, (of_.room() - answer_) / r.bytes);
      r.count = static_cast<std::uint32_t>(n);
      const bool listed = row.near_index != nullptr;
      near_.push_back({listed ? near : near + static_cast<std::ptrdiff_t>(i) * row.near_stride,
                       row.near_stride, listed ? row.near_index + i : nullptr, r.bytes, n});
      asked_.push_back(r);
      answer_ += n * r.bytes;
      r.where += static_cast<std::uint64_t>(r.stride) * n;
      i += n;
    }
  }
  void finish() {
    send();
    asker_.finish();
  }

 private:
  void send() {
    if (asked_.empty()) {
      return;
    }
    asker_.ask(from_, near_, answer_, asked_);
    asked_.clear();
    near_.clear();
    answer_ = 0;
  }

  far_ranks& of_;
  target from_;
  Asker asker_;
  std::vector<wire::run> asked_;
  std::vector<near_run> near_;
  std::size_t answer_ = 0;
};

void far_ranks::get_section(std::byte* to, const target& from, const loops& section) {
  run_reader<one_by_one> in(*this, from);
  each_run(
      section, from.where, room(),
      [&](std::uint64_t far, std::ptrdiff_t near) {
        get(to + near, {from.rank, from.in, far}, section.element);
      },
      [&](const wire::run& r, std::ptrdiff_t near, const axis& row) { in.add(r, to + near, row); });
  in.finish();
}

namespace {

/// Calls whole(piece) for pieces that no message holds, else some(run, near bytes, row) for those
/// that lie at one distance on both sides, as many as follow each other.
template <class Whole, class Some>
void each_run(std::span<const fabric::piece> pieces, std::size_t most, Whole whole, Some some) {
  for (std::size_t i = 0; i < pieces.size();) {
    const fabric::piece& first = pieces[i];
    const auto* const near = static_cast<const std::byte*>(first.local);
    if (first.bytes > most) {
      whole(first);
      ++i;
      continue;
    }
    axis row;
    wire::run r{first.remote, 0, static_cast<std::uint32_t>(first.bytes), 0};
    for (++i; i < pieces.size() && pieces[i].bytes == first.bytes; ++i, ++row.count) {
      const auto near_step = static_cast<const std::byte*>(pieces[i].local) -
                             static_cast<const std::byte*>(pieces[i - 1].local);
      const auto far_step = static_cast<std::int64_t>(pieces[i].remote - pieces[i - 1].remote);
      if (row.count == 1) {
        row.near_stride = near_step;
        r.stride = far_step;
      } else if (near_step != row.near_stride || far_step != r.stride) {
        break;
      }
    }
    some(r, const_cast<std::byte*>(near), row);
  }
}

}  // namespace

void far_ranks::put_pieces(job_rank to, std::span<const fabric::piece> pieces) {
  constexpr auto space = wire::space::address;
  run_writer out(*this, {to, space, 0});
  each_run(
      pieces, room() - sizeof(wire::run),
      [&](const fabric::piece& p) { put({to, space, p.remote}, p.local, p.bytes); },
      [&](const wire::run& r, std::byte* near, const axis& row) { out.add(r, near, row); });
  out.finish();
}

void far_ranks::get_pieces(job_rank from, std::span<const fabric::piece> pieces) {
  constexpr auto space = wire::space::address;
  run_reader<one_by_one> in(*this, {from, space, 0});
  each_run(
      pieces, room(),
      [&](const fabric::piece& p) { get(p.local, {from, space, p.remote}, p.bytes); },
      [&](const wire::run& r, std::byte* near, const axis& row) { in.add(r, near, row); });
  in.finish();
}

void far_ranks::get_pieces_later(job_rank from, std::span<const fabric::piece> pieces) {
  constexpr auto space = wire::space::address;
  run_reader<many_later> in(*this, {from, space, 0});
  const auto whole = [&](const fabric::piece& p) {
    for (std::size_t at = 0; at < p.bytes; at += room()) {
      const std::uint64_t wanted = std::min(room(), p.bytes - at);
      request& r = new_get();
      r.into = static_cast<std::byte*>(p.local) + at;
      r.bytes = wanted;
      begin_get(r, from, {.what = wire::kind::get, .in = space, .where = p.remote + at},
                std::as_bytes(std::span(&wanted, 1)));
    }
  };
  each_run(pieces, room(), whole,
           [&](const wire::run& r, std::byte* near, const axis& row) { in.add(r, near, row); });
  in.finish();
}

void far_ranks::ask(job_rank r, service which, std::span<const question> all) {
  pipeline line(*this);
  for (const question& q : all) {
    SINEW_EXPECT(q.data.size() <= room_to(r) && q.answer.size() <= room_to(r));
    request& asked = line.next(r);
    asked.into = q.answer.data();
    asked.bytes = q.answer.size();
    send(r,
         {.what = wire::kind::service,
          .a = static_cast<std::uint8_t>(which),
          .request = asked.id,
          .where = q.answer.size()},
         q.data.data(), q.data.size());
  }
  line.finish();
}

void far_ranks::ask_later(job_rank r, service which, const question& one) {
  SINEW_EXPECT(one.data.size() <= room_to(r) && one.answer.size() <= room_to(r));
  request& asked = new_get();
  asked.into = one.answer.data();
  asked.bytes = one.answer.size();
  begin_get(asked, r,
            {.what = wire::kind::service,
             .a = static_cast<std::uint8_t>(which),
             .where = one.answer.size()},
            one.data);
}

void far_ranks::tell(job_rank r, service which, std::span<const std::byte> data) {
  send(r, {.what = wire::kind::service, .a = static_cast<std::uint8_t>(which)}, data.data(),
       data.size());
}

void far_ranks::combine_at(const target& to, const combination& c) {
  const std::size_t width = size_of(c.type);
  const std::size_t most = room() / width;
  const std::vector<std::byte> nothing(
      c.op == combine::keep && c.from == nullptr ? std::min(most, c.count) * width : 0);
  const auto* from = nothing.empty() ? static_cast<const std::byte*>(c.from) : nullptr;
  auto* before = static_cast<std::byte*>(c.before);
  pipeline line(*this);
  for (std::size_t i = 0; i < c.count; i += most) {
    const std::size_t bytes = std::min(most, c.count - i) * width;
    wire::head head{.what = wire::kind::combine,
                    .in = to.in,
                    .a = static_cast<std::uint8_t>(c.op),
                    .b = static_cast<std::uint8_t>(c.type),
                    .where = to.where + i * width};
    if (before != nullptr) {
      request& asked = line.next(to.rank);
      asked.into = before + i * width;
      asked.bytes = bytes;
      head.request = asked.id;
    }
    send(to.rank, head, from != nullptr ? from + i * width : nothing.data(), bytes);
  }
  line.finish();
}

// --- the engine's calls ---

void engine::put_pieces(job_rank r, std::span<const fabric::piece> pieces) {
  SINEW_EXPECT(r.below(size_) && r != rank_);
  if (pieces.empty()) {
    return;
  }
  if (maps(r)) {
    move_pieces(r, false, pieces);
    return;
  }
  far_->put_pieces(r, pieces);
  puts_.note(r);
}

void engine::get_pieces(job_rank r, std::span<const fabric::piece> pieces) {
  SINEW_EXPECT(r.below(size_) && r != rank_);
  if (pieces.empty()) {
    return;
  }
  if (maps(r)) {
    move_pieces(r, true, pieces);
  } else {
    far_->get_pieces(r, pieces);
  }
}

void engine::get_pieces_later(job_rank r, std::span<const fabric::piece> pieces) {
  SINEW_EXPECT(r.below(size_) && r != rank_);
  if (maps(r)) {
    return get_pieces(r, pieces);
  }
  if (!pieces.empty()) {
    far_->get_pieces_later(r, pieces);
  }
}

std::size_t engine::most_asked(job_rank r) const noexcept { return far_->room_to(r); }

/// What was put there outside of its heap may be on its way beside the messages.
void engine::order_request(job_rank r) {
  SINEW_EXPECT(r.below(size_) && r != rank_);
  forget_copies();
  if (maps(r) && puts_.open(r)) [[unlikely]] {
    flush_puts(no_job_rank);
  }
}

void engine::ask(job_rank r, service which, std::span<const question> all) {
  order_request(r);
  far_->ask(r, which, all);
  forget_copies();
}

void engine::ask_later(job_rank r, service which, const question& one) {
  order_request(r);
  far_->ask_later(r, which, one);
}

void engine::tell(job_rank r, service which, std::span<const std::byte> data) {
  SINEW_EXPECT(data.size() <= most_asked(r));
  order_request(r);
  far_->tell(r, which, data);
  puts_.note(r);
  forget_copies();
}

}  // namespace sinew::rma
