// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 sections 6.9.2 to 6.9.7: reduction operations.
#include "abi/mpi/op.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <optional>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/type.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {
namespace {

std::optional<coll::op_kind> predefined_kind(MPI_Op handle) {
  using coll::op_kind;
  switch (value_of(handle)) {
    case abi::handle_sum:
      return op_kind::sum;
    case abi::handle_min:
      return op_kind::min;
    case abi::handle_max:
      return op_kind::max;
    case abi::handle_prod:
      return op_kind::prod;
    case abi::handle_band:
      return op_kind::band;
    case abi::handle_bor:
      return op_kind::bor;
    case abi::handle_bxor:
      return op_kind::bxor;
    case abi::handle_land:
      return op_kind::land;
    case abi::handle_lor:
      return op_kind::lor;
    case abi::handle_lxor:
      return op_kind::lxor;
    case abi::handle_minloc:
      return op_kind::minloc;
    case abi::handle_maxloc:
      return op_kind::maxloc;
    case abi::handle_replace:
      return op_kind::replace;
    case abi::handle_no_op:
      return op_kind::no_op;
    default:
      return std::nullopt;
  }
}

op_object& user_op(MPI_Op handle) {
  auto* found = resolve<op_object>(handle);
  if (found == nullptr) {
    fail(MPI_ERR_OP, "the operation is %s",
         handle == MPI_OP_NULL ? "MPI_OP_NULL" : "freed or no operation");
  }
  return *found;
}

int create(MPI_User_function* small, MPI_User_function_c* large, int commute, MPI_Op* op) {
  check_out(op, "op");
  if (small == nullptr && large == nullptr) {
    fail(MPI_ERR_ARG, "the function is null");
  }
  auto* made = arena<op_object>::make();
  made->commutative = commute != 0;
  made->small = small;
  made->large = large;
  SINEW_ENSURE((made->small == nullptr) != (made->large == nullptr));
  *op = handle_of<MPI_Op>(made);
  return MPI_SUCCESS;
}

}  // namespace

const coll::op* predefined(MPI_Op handle, MPI_Datatype type, const layout::datatype& of) {
  static constexpr auto all = [] {
    std::array<coll::op, static_cast<std::size_t>(coll::op_kind::user)> ops;
    for (std::size_t k = 0; k < ops.size(); ++k) {
      ops[k].kind = static_cast<coll::op_kind>(k);
    }
    return ops;
  }();
  const auto kind = predefined_kind(handle);
  if (!kind) {
    return nullptr;
  }
  if (*kind == coll::op_kind::replace || *kind == coll::op_kind::no_op) {
    fail(MPI_ERR_OP, "MPI_REPLACE and MPI_NO_OP are for one-sided communication only");
  }
  const coll::op& known = all[static_cast<std::size_t>(*kind)];
  if (!known.allowed(of)) {
    const std::string& name = type_of(type).name;
    fail(MPI_ERR_OP, "the operation is not defined for the datatype %s",
         name.empty() ? "(made by the program)" : name.c_str());
  }
  return &known;
}

bound_op::bound_op(MPI_Op handle, MPI_Datatype type, const layout::datatype& of) : type_(type) {
  if (const coll::op* const known = predefined(handle, type, of)) {
    op_ = *known;
    return;
  }
  user_ = keep(&user_op(handle));
  SINEW_ASSERT(user_->small != nullptr || user_->large != nullptr);
  (void)keep(resolve<type_object>(type));
  op_.kind = coll::op_kind::user;
  op_.commutative = user_->commutative;
  op_.call = &bound_op::call;
  op_.handle = this;
}

coll::op accumulate_op(MPI_Op handle, layout::element of) {
  const auto kind = predefined_kind(handle);
  if (!kind) {
    (void)user_op(handle);
    fail(MPI_ERR_OP, "accumulates take predefined operations only");
  }
  const coll::op o{.kind = *kind};
  if (!o.allowed(of)) {
    fail(MPI_ERR_OP, "the operation is not defined for elements of this kind");
  }
  SINEW_ENSURE(o.kind != coll::op_kind::user);
  return o;
}

void bound_op::release() noexcept {
  SINEW_EXPECT(user_ != nullptr);
  drop(user_);
  drop(resolve<type_object>(type_));
}

void bound_op::call(void* self, const void* in, void* inout, std::size_t count,
                    const layout::datatype& type) {
  auto& bound = *static_cast<bound_op*>(self);
  SINEW_EXPECT(bound.user_ != nullptr && bound.op_.handle == self);
  if (bound.user_->large != nullptr) {
    auto n = static_cast<MPI_Count>(count);
    bound.user_->large(const_cast<void*>(in), inout, &n, &bound.type_);
    return;
  }
  SINEW_ASSERT(bound.user_->small != nullptr);
  auto* from = static_cast<std::byte*>(const_cast<void*>(in));
  auto* to = static_cast<std::byte*>(inout);
  while (count > 0) {
    int n = static_cast<int>(std::min<std::size_t>(count, INT_MAX));
    bound.user_->small(from, to, &n, &bound.type_);
    from += n * type.extent();
    to += n * type.extent();
    count -= static_cast<std::size_t>(n);
  }
}

int impl::Op_create(MPI_User_function* user_fn, int commute, MPI_Op* op) {
  return create(user_fn, nullptr, commute, op);
}
int impl::Op_create_c(MPI_User_function_c* user_fn, int commute, MPI_Op* op) {
  return create(nullptr, user_fn, commute, op);
}

int impl::Op_free(MPI_Op* op) {
  check_out(op, "op");
  if (predefined_kind(*op)) {
    fail(MPI_ERR_OP, "a predefined operation cannot be freed");
  }
  drop(&user_op(*op));
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}

int impl::Op_commutative(MPI_Op op, int* commute) {
  check_out(commute, "commute");
  *commute = predefined_kind(op) ? 1 : static_cast<int>(user_op(op).commutative);
  return MPI_SUCCESS;
}

int impl::Reduce_local(const void* inbuf, void* inoutbuf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Op op) {
  check_count(count);
  const layout::datatype& t = layout_of(datatype);
  const bound_op o(op, datatype, t);
  if (inbuf == MPI_IN_PLACE || inoutbuf == MPI_IN_PLACE) {
    fail(MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed here");
  }
  if (count > 0) {
    o->apply(inbuf, inoutbuf, static_cast<std::size_t>(count), t);
  }
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi

void SINEW_set_operation(MPI_Op op, MPI_User_function* function) {
  if (!sinew::mpi::predefined_kind(op)) {
    sinew::mpi::user_op(op).small = function;
  }
}
