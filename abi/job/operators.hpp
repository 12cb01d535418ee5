// SPDX-License-Identifier: BSD-3-Clause
// The reductions of sinew_job.h as operators of region.
#pragma once

#include <cstdint>

#include "sinew/region/operators.hpp"
#include "sinew/region/system.hpp"
#include "sinew_job.h"

namespace sinew::job_binding {

/// Calls call(Op{}) for the operator; false: there is none.
template <class T, class Call>
bool with_operator(sinew_reduction op, Call&& call) {
  switch (op) {
    case SINEW_SUM:
      return call(region::sum<T>{}), true;
    case SINEW_PRODUCT:
      return call(region::product<T>{}), true;
    case SINEW_MINIMUM:
      return call(region::minimum<T>{}), true;
    case SINEW_MAXIMUM:
      return call(region::maximum<T>{}), true;
  }
  return false;
}

template <class Call>
bool with_operator(sinew_reduction op, sinew_type type, Call&& call) {
  switch (type) {
    case SINEW_INT32:
      return with_operator<std::int32_t>(op, call);
    case SINEW_INT64:
      return with_operator<std::int64_t>(op, call);
    case SINEW_FLOAT:
      return with_operator<float>(op, call);
    case SINEW_DOUBLE:
      return with_operator<double>(op, call);
    case SINEW_BYTES:
      break;
  }
  return false;
}

/// Makes all of them known to this rank.
inline void add_operators(region::system& all) {
  for (const sinew_reduction op : {SINEW_SUM, SINEW_PRODUCT, SINEW_MINIMUM, SINEW_MAXIMUM}) {
    for (const sinew_type type : {SINEW_INT32, SINEW_INT64, SINEW_FLOAT, SINEW_DOUBLE}) {
      with_operator(op, type, [&]<class Op>(Op) { all.add<Op>(); });
    }
  }
}

}  // namespace sinew::job_binding
