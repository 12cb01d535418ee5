// SPDX-License-Identifier: BSD-3-Clause
#include "region/sides.hpp"

#include <algorithm>

namespace sinew::region {
namespace {

/// Their numbers, each of which must be an element of `whose`.
std::vector<std::int64_t> read_indices(const instance_table& table, const side_wire& s,
                                       const known& whose, const window& which) {
  const known_ptr k = table.find(instance::from_bits(s.index));
  const std::uint64_t all = elements_of(s.index_where);
  SINEW_EXPECT(which.first <= all);
  std::vector<std::int64_t> list(std::min(which.count, all - which.first));
  walker w(k->where, s.index_field, s.index_where);
  w.skip(which.first);
  for (std::size_t at = 0; at < list.size();) {
    run r = w.now();
    r.count = std::min<std::uint64_t>(r.count, list.size() - at);
    const std::byte* base = table.reach(*k, r.part);
    if (base == nullptr) {
      throw fault{"its indices cannot be seen by the rank that does it"};
    }
    copy_run(reinterpret_cast<std::byte*>(list.data() + at), sizeof(std::int64_t), base + r.offset,
             r.step, r.count, sizeof(std::int64_t));
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

}  // namespace

bound_side bind(const instance_table& table, const side_wire& s, const window& which) {
  bound_side b;
  b.what = table.find(s.of());
  SINEW_EXPECT(s.field < b.what->where.fields.size());
  if (!b.what->ready()) {
    throw fault{"an instance is not ready: let it come after the event that create() returned"};
  }
  if (s.index != 0) {
    b.list = read_indices(table, s, *b.what, which);
    b.at = std::make_unique<walker>(b.what->where, s.field, std::span<const std::int64_t>(b.list));
  } else {
    b.at = std::make_unique<walker>(b.what->where, s.field, s.where);
    b.at->skip(which.first);
  }
  return b;
}

bool any_twice(std::vector<std::int64_t> list) {
  std::sort(list.begin(), list.end());
  return std::adjacent_find(list.begin(), list.end()) != list.end();
}

address_list::address_list(const instance_table& table, const bound_side& s) : at_(s.at.get()) {
  for (std::uint32_t p = 0; p < s.what->where.parts; ++p) {
    const std::byte* base = table.reach(*s.what, p);
    bases_.push_back(base != nullptr ? reinterpret_cast<std::uintptr_t>(base)
                                     : s.what->place(p).address);
    SINEW_ASSERT(bases_.back() != 0);
  }
  far_ = table.sees(*s.what) ? every_rank : s.what->private_to();
}

void address_list::next(std::span<std::uint64_t> to) noexcept {
  if (at_ != nullptr) {
    return at_->addresses(bases_, to);
  }
  SINEW_ASSERT(here_ != nullptr || to.empty());
  for (std::uint64_t& address : to) {
    address = reinterpret_cast<std::uintptr_t>(here_);
    here_ += bytes_;
  }
}

}  // namespace sinew::region
