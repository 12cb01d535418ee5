// Bytes: copies, fills and reductions as they are done by a rank that sees what it needs.
#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "region/body.hpp"
#include "sinew/base/trace.hpp"

namespace sinew::region {
namespace {

using fabric::direction;

/// Shorter pieces of another rank's private memory are worth sorting and joining.
constexpr std::uint64_t least_piece = 512;
constexpr std::size_t most_scratch = std::size_t{64} << 10;

/// Pieces for the kernel, to or from one peer at a time.
template <class Copy>
class kernel_pieces {
 public:
  explicit kernel_pieces(Copy copy) : copy_(copy) {}
  void add(int peer, direction way, std::byte* here, std::uint64_t there, std::size_t bytes) {
    if (count_ == pieces_.size() || (count_ != 0 && (peer != peer_ || way != way_))) {
      flush();
    }
    peer_ = peer;
    way_ = way;
    pieces_[count_++] = {here, there, bytes};
  }
  void flush() {
    if (count_ != 0) {
      copy_(peer_, way_, std::span<const fabric::piece>(pieces_.data(), count_));
    }
    count_ = 0;
  }

 private:
  Copy copy_;
  int peer_ = -1;
  direction way_ = direction::in;
  std::size_t count_ = 0;
  std::array<fabric::piece, 256> pieces_;
};

/// Hands a run over as pieces: one, or one for each element.
template <class Pieces>
void add_pieces(Pieces& pieces, int peer, direction way, std::byte* here, std::int64_t here_step,
                std::uint64_t there, std::int64_t there_step, std::uint64_t count,
                std::size_t bytes) {
  const auto size = static_cast<std::int64_t>(bytes);
  if (count == 1 || (here_step == size && there_step == size)) {
    pieces.add(peer, way, here, there, count * bytes);
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    pieces.add(peer, way, here, there, bytes);
    here += here_step;
    there += static_cast<std::uint64_t>(there_step);
  }
}

std::uint64_t address_in(const known& k, const region::run& r) {
  return k.place(r.part).address + static_cast<std::uint64_t>(r.offset);
}

/// Bytes that lie side by side on both sides, as the first run has them.
std::uint64_t together(const walk& from, const walk& to, std::size_t bytes) {
  const region::run a = from.at->now();
  const region::run b = to.at->now();
  const auto size = static_cast<std::int64_t>(bytes);
  return a.step == size && b.step == size ? common(a, b) * bytes : bytes;
}

const char* name_of(action a) {
  return a == action::copy ? "copy" : a == action::fill ? "fill" : "reduce";
}

}  // namespace

void system::body::kernel(int peer, direction way, std::span<const fabric::piece> pieces) {
  if (!kernel_works.load(std::memory_order_relaxed) ||
      !rma.runtime().endpoint().copy_now(peer, way, pieces)) {
    kernel_works.store(false, std::memory_order_relaxed);
    throw no_kernel{};
  }
}

std::vector<std::int64_t> system::body::indices_of(const side_wire& s, const known& whose,
                                                   const window& which) const {
  const known_ptr k = find(instance::from_bits(s.index));
  std::vector<std::int64_t> list(
      std::min(which.count, region::elements_of(s.index_where) - which.first));
  walker w(k->where, s.index_field, s.index_where);
  w.skip(which.first);
  for (std::size_t at = 0; at < list.size();) {
    region::run r = w.now();
    r.count = std::min<std::uint64_t>(r.count, list.size() - at);
    const std::byte* base = reach(*k, r.part);
    if (base == nullptr) {
      throw fault{"its indices cannot be seen by the rank that does it"};
    }
    copy_run(reinterpret_cast<std::byte*>(list.data() + at), 8, base + r.offset, r.step, r.count,
             8);
    at += r.count;
    w.skip(r.count);
  }
  const auto elements = static_cast<std::int64_t>(whose.where.elements.elements());
  const auto outside = std::find_if(list.begin(), list.end(),
                                    [elements](std::int64_t i) { return i < 0 || i >= elements; });
  if (outside != list.end()) {
    const auto at = which.first + static_cast<std::uint64_t>(outside - list.begin());
    std::string text = "index ";
    text += std::to_string(*outside) + " (the " + std::to_string(at);
    text += "th) lies outside of the instance's " + std::to_string(elements) + " elements";
    throw fault{text};
  }
  return list;
}

walk system::body::walk_of(const side_wire& s, const window& which) const {
  walk w;
  w.what = find(instance::from_bits(s.what));
  w.field = s.field;
  if (w.what->there->state.load(std::memory_order_acquire) != record_state::ready) {
    throw fault{"an instance is not ready: let it come after the event that create() returned"};
  }
  if (s.index != 0) {
    w.list = indices_of(s, *w.what, which);
    w.at = std::make_unique<walker>(w.what->where, s.field, std::span<const std::int64_t>(w.list));
  } else {
    w.at = std::make_unique<walker>(w.what->where, s.field, s.where);
    w.at->skip(which.first);
  }
  return w;
}

outcome system::body::run(const transfer& t) {
  const std::int64_t begin = trace::begin();
  try {
    try {
      if (t.what == action::copy) {
        copy(t);
      } else {
        t.what == action::fill ? fill(t) : reduce(t);
      }
    } catch (const no_kernel&) {
      if (t.post == 0 || !sees(*find(instance::from_bits(t.from.what)))) {
        return outcome::refused;
      }
      pass_on(t);
      return outcome::passed_on;
    }
    trace::span(trace::kind::copy, name_of(t.what), begin, t.post, t.elements * t.bytes);
    return outcome::done;
  } catch (const fault& f) {
    problem(std::string("a ") + name_of(t.what) + " was given up (" + f.text + ")");
  } catch (const std::bad_alloc&) {
    problem(std::string("a ") + name_of(t.what) + " was given up (there is no memory for it)");
  } catch (const std::exception& e) {
    problem(std::string("a ") + name_of(t.what) + " was given up (" + e.what() + ")");
  }
  return outcome::failed;
}

void system::body::copy(const transfer& t) {
  if (t.from.what == t.to.what && t.from.field == t.to.field) {
    copy_staged(t);
    return;
  }
  const walk from = walk_of(t.from);
  const walk to = walk_of(t.to);
  if (t.elements == 0) {
    return;
  }
  const addresses source_side = addresses_of(from);
  const addresses target_side = addresses_of(to);
  if (from.at->listed() || to.at->listed() ||
      ((source_side.far != -1 || target_side.far != -1) &&
       together(from, to, t.bytes) < std::min(least_piece, t.elements * t.bytes))) {
    if (source_side.far != -1 && target_side.far != -1) {
      throw no_kernel{};
    }
    copy_scattered(source_side, target_side, t.elements, t.bytes);
    return;
  }
  kernel_pieces pieces([this](int peer, direction way, std::span<const fabric::piece> list) {
    kernel(peer, way, list);
  });
  while (!from.at->done()) {
    const region::run a = from.at->now();
    const region::run b = to.at->now();
    const std::uint64_t n = common(a, b);
    std::byte* source = reach(*from.what, a.part);
    std::byte* target = reach(*to.what, b.part);
    if (source != nullptr && target != nullptr) {
      copy_run(target + b.offset, b.step, source + a.offset, a.step, n, t.bytes);
    } else if (source != nullptr) {
      add_pieces(pieces, to.what->place(b.part).rank, direction::out, source + a.offset, a.step,
                 address_in(*to.what, b), b.step, n, t.bytes);
    } else if (target != nullptr) {
      add_pieces(pieces, from.what->place(a.part).rank, direction::in, target + b.offset, b.step,
                 address_in(*from.what, a), a.step, n, t.bytes);
    } else {
      throw no_kernel{};
    }
    from.at->skip(n);
    to.at->skip(n);
  }
  pieces.flush();
}

/// Within one field of one instance, where the two sides may overlap.
void system::body::copy_staged(const transfer& t) {
  const walk from = walk_of(t.from);
  const walk to = walk_of(t.to);
  const std::size_t bytes = t.bytes;
  const auto step = static_cast<std::int64_t>(bytes);
  std::vector<std::byte> all(t.elements * bytes);
  const int owner = from.what->private_to();
  for (const walk* w : {&from, &to}) {
    const bool in = w == &from;
    if (w->at->listed()) {
      const addresses there = addresses_of(*w);
      const addresses here{nullptr, {}, -1, all.data()};
      copy_scattered(in ? there : here, in ? here : there, t.elements, bytes);
      continue;
    }
    kernel_pieces pieces([this](int peer, direction way, std::span<const fabric::piece> list) {
      kernel(peer, way, list);
    });
    for (std::byte* at = all.data(); !w->at->done();) {
      const region::run r = w->at->now();
      std::byte* there = reach(*w->what, r.part);
      if (there == nullptr) {
        add_pieces(pieces, owner, in ? direction::in : direction::out, at, step,
                   address_in(*w->what, r), r.step, r.count, bytes);
      } else if (in) {
        copy_run(at, step, there + r.offset, r.step, r.count, bytes);
      } else {
        copy_run(there + r.offset, r.step, at, step, r.count, bytes);
      }
      at += r.count * bytes;
      w->at->skip(r.count);
    }
    pieces.flush();
  }
}

void system::body::fill(const transfer& t) {
  const walk to = walk_of(t.to);
  const bool zero =
      std::all_of(t.value, t.value + t.bytes, [](std::byte b) { return b == std::byte{0}; });
  for (; !to.at->done(); to.at->skip(to.at->now().count)) {
    const region::run r = to.at->now();
    std::byte* there = reach(*to.what, r.part);
    if (there == nullptr) {
      throw fault{"its target is another rank's private memory"};
    }
    if (zero && r.step == static_cast<std::int64_t>(t.bytes)) {
      std::memset(there + r.offset, 0, r.count * t.bytes);
    } else {
      copy_run(there + r.offset, r.step, t.value, 0, r.count, t.bytes);
    }
  }
}

/// At the owner of the part, or of the source. What it does not see of the source it fetches piece
/// by piece.
void system::body::reduce(const transfer& t) {
  const operator_entry& op = operator_of(t.op);
  if (find(instance::from_bits(t.to.what))->place(t.part).rank != rank) {
    throw no_kernel{};  // this rank was asked since it owns the source
  }
  const walk from = walk_of(t.from);
  const walk to = walk_of(t.to);
  std::vector<std::byte> scratch;
  const auto step = static_cast<std::int64_t>(t.bytes);
  const core::guard held(merging, threaded);
  while (!from.at->done()) {
    const region::run a = from.at->now();
    const region::run b = to.at->now();
    std::uint64_t n = common(a, b);
    if (b.part == t.part) {
      const std::byte* source = reach(*from.what, a.part);
      paired_run r{reach(*to.what, b.part) + b.offset, b.step, nullptr, a.step, n, t.how};
      if (source != nullptr) {
        r.from = source + a.offset;
      } else {
        r.count = n = std::min<std::uint64_t>(n, std::max<std::size_t>(most_scratch / t.bytes, 1));
        scratch.resize(std::max(scratch.size(), n * t.bytes));
        kernel_pieces pieces([this](int peer, direction way, std::span<const fabric::piece> list) {
          return kernel(peer, way, list);
        });
        add_pieces(pieces, from.what->place(a.part).rank, direction::in, scratch.data(), step,
                   address_in(*from.what, a), a.step, n, t.bytes);
        pieces.flush();
        r.from = scratch.data();
        r.from_step = step;
      }
      op.apply(r);
    }
    from.at->skip(n);
    to.at->skip(n);
  }
}

/// By the owner of the source, where the kernel copies nothing: packed, in messages to the owner of
/// the target, who triggers the event with the last.
void system::body::pass_on(const transfer& t) {
  const walk from = walk_of(t.from);
  const walk to = walk_of(t.to);
  const std::size_t room = events.largest_message() - sizeof(delivery);
  const std::uint64_t most = std::max<std::uint64_t>(room / t.bytes, 1);
  if (t.bytes > room) {
    throw fault{"elements of " + std::to_string(t.bytes) + " bytes fit into no message"};
  }
  std::vector<std::byte> packet(sizeof(delivery) + most * t.bytes);
  delivery d{t, 0, 0};
  const int peer = to.what->place(t.part).rank;
  const auto send = [&](bool last) {
    std::memcpy(packet.data(), &d, sizeof d);
    events.send(peer, sinew::event::topic::copy, last ? deliver_last : deliver, 0, packet.data(),
                sizeof d + d.count * t.bytes);
    d.first += d.count;
    d.count = 0;
  };
  while (!from.at->done()) {
    const region::run a = from.at->now();
    const region::run b = to.at->now();
    const std::uint64_t n = std::min(common(a, b), most - d.count);
    if (b.part == t.part) {
      const std::byte* source = reach(*from.what, a.part);
      if (source == nullptr) {
        throw fault{"its source is not the private memory of the rank that was asked"};
      }
      copy_run(packet.data() + sizeof d + d.count * t.bytes, static_cast<std::int64_t>(t.bytes),
               source + a.offset, a.step, n, t.bytes);
      d.count += n;
    }
    if (d.count == most || (b.part != t.part && d.count != 0)) {
      send(false);
    }
    if (b.part != t.part) {
      d.first += n;
    }
    from.at->skip(n);
    to.at->skip(n);
  }
  send(true);
}

void system::body::take_delivery(const delivery& d, const std::byte* data, bool last) {
  bool good = true;
  try {
    const walk to = walk_of(d.of.to, {d.first, d.count});
    const auto step = static_cast<std::int64_t>(d.of.bytes);
    const core::guard held(merging, threaded);
    for (std::uint64_t left = d.count; left != 0;) {
      const region::run r = to.at->now();
      const std::uint64_t n = std::min(left, r.count);
      std::byte* there = reach(*to.what, r.part) + r.offset;
      if (d.of.what == action::reduce) {
        operator_of(d.of.op).apply({there, r.step, data, step, n, d.of.how});
      } else {
        copy_run(there, r.step, data, step, n, d.of.bytes);
      }
      data += n * d.of.bytes;
      left -= n;
      to.at->skip(n);
    }
  } catch (const fault& f) {
    good = false;
    problem("a delivery was given up (" + f.text + ")");
  } catch (const std::exception& e) {
    good = false;
    problem(std::string("a delivery was given up (") + e.what() + ")");
  }
  if (last) {
    finish(d.of.post, good);
  }
}

}  // namespace sinew::region
