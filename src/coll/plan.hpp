// Plans of collectives: what nonblocking.hpp hands out. A plan is a list of steps; messages are
// begun as their steps are reached, and a `wait` is passed when all of them have ended.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "coll/scratch.hpp"
#include "sinew/base/check.hpp"
#include "sinew/coll/nonblocking.hpp"

namespace sinew::coll {

struct step {
  enum class kind : std::uint8_t { send, receive, wait, copy, combine };
  kind what;
  int peer;     ///< send, receive
  buffer from;  ///< send, copy; combine: the operand of the lower ranks
  buffer into;  ///< receive, copy; combine: the other operand, and the result
};

class plan {
 public:
  explicit plan(op_ref o = nullptr) : op_(std::move(o)) { steps_.reserve(usual_steps); }

  void send(const buffer& from, int dest) {
    SINEW_EXPECT(dest >= 0);
    add({step::kind::send, dest, hold(from), {}});
  }
  void receive(const buffer& into, int source) {
    SINEW_EXPECT(source >= 0);
    add({step::kind::receive, source, {}, hold(into)});
  }
  void wait() { add({step::kind::wait, 0, {}, {}}); }
  void copy(const buffer& from, const buffer& into) {
    // Datatypes with absolute addresses have one base.
    if (from.base != into.base || from.type != into.type) {
      add({step::kind::copy, 0, hold(from), hold(into)});
    }
  }
  /// into = from (op) into.
  void combine(const buffer& from, const buffer& into) {
    SINEW_EXPECT(op_ != nullptr && from.count == into.count && from.type == into.type);
    if (into.count != 0) {
      add({step::kind::combine, 0, hold(from), hold(into)});
    }
  }
  /// The steps of a plan made for a smaller communicator, whose rank r is peers[r] here. It must
  /// combine by the same operator, if it combines.
  void append(std::shared_ptr<const plan> other, std::span<const int> peers) {
    for (step s : other->steps_) {
      if (s.what == step::kind::send || s.what == step::kind::receive) {
        SINEW_EXPECT(static_cast<std::size_t>(s.peer) < peers.size());
        s.peer = peers[static_cast<std::size_t>(s.peer)];
      }
      add(s);
    }
    appended_.push_back(std::move(other));
  }
  /// Memory of the plan's own for `count` instances.
  [[nodiscard]] buffer space(std::size_t count, const layout::datatype& type) {
    return {own_.emplace_back(std::make_unique<scratch>(count, type))->base(), count, &type};
  }
  [[nodiscard]] buffer space(std::size_t bytes) {
    return buffer::of_bytes(own_.emplace_back(std::make_unique<scratch>(bytes))->base(), bytes);
  }

  [[nodiscard]] const std::vector<step>& steps() const noexcept { return steps_; }
  [[nodiscard]] const op& operation() const noexcept {
    SINEW_EXPECT(op_ != nullptr);
    return *op_;
  }

 private:
  static constexpr std::size_t usual_steps = 12;
  void add(const step& s) { steps_.push_back(s); }
  /// The program may free its datatypes before the plan has been carried out.
  const buffer& hold(const buffer& b) {
    if (b.type != nullptr && (types_.empty() || types_.back().get() != b.type)) {
      types_.push_back(layout::share(*b.type));
    }
    return b;
  }

  op_ref op_;
  std::vector<step> steps_;
  std::vector<layout::datatype_ref> types_;
  std::vector<std::unique_ptr<scratch>> own_;
  std::vector<std::shared_ptr<const plan>> appended_;  ///< own memory that the steps use
};

// Empty messages are not sent where both sides know their size.
inline void send_if_any(plan& p, const buffer& from, int dest) {
  if (from.bytes() != 0) {
    p.send(from, dest);
  }
}
inline void receive_if_any(plan& p, const buffer& into, int source) {
  if (into.bytes() != 0) {
    p.receive(into, source);
  }
}

}  // namespace sinew::coll
