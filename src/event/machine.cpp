#include "sinew/event/machine.hpp"

namespace sinew::event {

// Classes of distance: the same NUMA node, another one of the same rank's processors, another rank
// on the node. The figures are those of common two-socket machines.
affinity machine::between(const processor_info& p, const memory_info& m) const noexcept {
  constexpr affinity near{1.0, 1.0};
  constexpr affinity mapped{0.7, 1.5};
  constexpr affinity striped{0.5, 2.0};
  constexpr affinity by_message{0.25, 10.0};
  if (m.kind == memory_kind::global) {
    return striped;
  }
  if (m.rank == p.where.rank()) {
    return near;
  }
  return m.kind == memory_kind::symmetric ? mapped : by_message;
}

}  // namespace sinew::event
