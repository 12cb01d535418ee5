// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 section 5.1: making datatypes.
#include <algorithm>
#include <cstring>
#include <vector>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/type.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {
namespace {

/// Whether the program called the large-count function; both bindings share one implementation, and
/// MPI_Type_get_envelope has to tell them apart (MPI-5.0 section 5.1.13).
bool called_large() {
  const std::size_t length = std::strlen(current_call);
  SINEW_ASSERT(length > 2);
  return std::strcmp(current_call + length - 2, "_c") == 0;
}

/// The arguments of the call being made, in the order in which contents are returned.
class cook {
 public:
  explicit cook(int combiner) {
    recipe_.combiner = combiner;
    recipe_.large = called_large();
  }
  cook& number(MPI_Count n) {  ///< int in the small function, MPI_Count in the large
    if (recipe_.large) {
      recipe_.counts.push_back(n);
    } else {
      recipe_.integers.push_back(static_cast<int>(n));
    }
    return *this;
  }
  cook& numbers(const MPI_Count* n, MPI_Count count) {
    for (MPI_Count i = 0; i < count; ++i) {
      number(n[i]);
    }
    return *this;
  }
  cook& integer(int n) {  ///< int in both
    recipe_.integers.push_back(n);
    return *this;
  }
  cook& integers(const int* n, MPI_Count count) {
    for (MPI_Count i = 0; i < count; ++i) {
      integer(n[i]);
    }
    return *this;
  }
  cook& address(MPI_Count a) {  ///< MPI_Aint in the small function, MPI_Count in the large
    if (recipe_.large) {
      recipe_.counts.push_back(a);
    } else {
      recipe_.addresses.push_back(static_cast<MPI_Aint>(a));
    }
    return *this;
  }
  cook& addresses(const MPI_Count* a, MPI_Count count) {
    for (MPI_Count i = 0; i < count; ++i) {
      address(a[i]);
    }
    return *this;
  }
  cook& type(MPI_Datatype t) {
    recipe_.types.push_back(t);
    return *this;
  }
  int serve(layout::datatype_ref made, MPI_Datatype* to) {
    SINEW_EXPECT(made.get() != nullptr);
    SINEW_EXPECT(recipe_.large ? recipe_.addresses.empty() : recipe_.counts.empty());
    check_out(to, "newtype");
    for (const MPI_Datatype t : recipe_.types) {
      keep(resolve<type_object>(t));
    }
    *to = handle_of<MPI_Datatype>(arena<type_object>::make(std::move(made), std::move(recipe_)));
    return MPI_SUCCESS;
  }

 private:
  recipe recipe_;
};

std::vector<std::size_t> lengths_of(MPI_Count count, const MPI_Count* lengths) {
  SINEW_EXPECT(count >= 0);
  std::vector<std::size_t> result(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < result.size(); ++i) {
    check_count(lengths[i]);
    result[i] = static_cast<std::size_t>(lengths[i]);
  }
  return result;
}

/// Displacements in bytes: `unit` bytes each.
std::vector<std::ptrdiff_t> offsets_of(MPI_Count count, const MPI_Count* from,
                                       std::ptrdiff_t unit) {
  SINEW_EXPECT(count >= 0);
  std::vector<std::ptrdiff_t> result(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = from[i] * unit;
  }
  return result;
}

void check_list(MPI_Count count, const void* list, const char* name) {
  check_count(count);
  if (count > 0) {
    check_out(list, name);
  }
}

/// One dimension of a distributed array: how many elements, and which this process has.
struct distribution {
  MPI_Count elements;
  int how;
  int block;
  int processes;
  int coordinate;
};

/// The part of a row of `elements` old types that falls to one process, with the row's extent.
layout::datatype_ref distributed(const distribution& d, const layout::datatype& old) {
  SINEW_EXPECT(d.elements >= 1 && d.processes >= 1);
  SINEW_EXPECT(d.coordinate >= 0 && d.coordinate < d.processes);
  MPI_Count block = d.block;
  if (d.how == MPI_DISTRIBUTE_NONE) {
    if (d.processes != 1) {
      fail(MPI_ERR_ARG, "an undistributed dimension has %d processes", d.processes);
    }
    block = d.elements;
  } else if (d.block == MPI_DISTRIBUTE_DFLT_DARG) {
    block = d.how == MPI_DISTRIBUTE_CYCLIC ? 1 : (d.elements + d.processes - 1) / d.processes;
  } else if (d.how == MPI_DISTRIBUTE_BLOCK && block * d.processes < d.elements) {
    fail(MPI_ERR_ARG, "%d blocks of %d do not cover %lld elements", d.processes, d.block,
         static_cast<long long>(d.elements));
  }
  if (block < 1 || (d.how != MPI_DISTRIBUTE_NONE && d.how != MPI_DISTRIBUTE_BLOCK &&
                    d.how != MPI_DISTRIBUTE_CYCLIC)) {
    fail(MPI_ERR_ARG, "%d is no distribution, or its argument %d is wrong", d.how, d.block);
  }
  SINEW_ASSERT(block >= 1);
  std::vector<std::size_t> lengths;
  std::vector<std::ptrdiff_t> offsets;
  for (MPI_Count first = d.coordinate * block; first < d.elements; first += d.processes * block) {
    lengths.push_back(static_cast<std::size_t>(std::min(block, d.elements - first)));
    offsets.push_back(first * old.extent());
  }
  return layout::resized(*layout::indexed(lengths, offsets, old), 0, d.elements * old.extent());
}

}  // namespace

int impl::Type_contiguous(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  check_count(count);
  const type_object& old = type_of(oldtype);
  return cook(MPI_COMBINER_CONTIGUOUS)
      .number(count)
      .type(oldtype)
      .serve(layout::contiguous(static_cast<std::size_t>(count), *old.layout), newtype);
}

int impl::Type_vector(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                      MPI_Datatype oldtype, MPI_Datatype* newtype) {
  check_count(count);
  check_count(blocklength);
  const type_object& old = type_of(oldtype);
  return cook(MPI_COMBINER_VECTOR)
      .number(count)
      .number(blocklength)
      .number(stride)
      .type(oldtype)
      .serve(layout::vector(static_cast<std::size_t>(count), static_cast<std::size_t>(blocklength),
                            stride * old.layout->extent(), *old.layout),
             newtype);
}

int impl::Type_create_hvector(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                              MPI_Datatype oldtype, MPI_Datatype* newtype) {
  check_count(count);
  check_count(blocklength);
  const type_object& old = type_of(oldtype);
  return cook(MPI_COMBINER_HVECTOR)
      .number(count)
      .number(blocklength)
      .address(stride)
      .type(oldtype)
      .serve(layout::vector(static_cast<std::size_t>(count), static_cast<std::size_t>(blocklength),
                            stride, *old.layout),
             newtype);
}

int impl::Type_indexed(MPI_Count count, const MPI_Count array_of_blocklengths[],
                       const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                       MPI_Datatype* newtype) {
  check_list(count, array_of_blocklengths, "array_of_blocklengths");
  check_list(count, array_of_displacements, "array_of_displacements");
  const type_object& old = type_of(oldtype);
  return cook(MPI_COMBINER_INDEXED)
      .number(count)
      .numbers(array_of_blocklengths, count)
      .numbers(array_of_displacements, count)
      .type(oldtype)
      .serve(layout::indexed(lengths_of(count, array_of_blocklengths),
                             offsets_of(count, array_of_displacements, old.layout->extent()),
                             *old.layout),
             newtype);
}

int impl::Type_create_hindexed(MPI_Count count, const MPI_Count array_of_blocklengths[],
                               const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                               MPI_Datatype* newtype) {
  check_list(count, array_of_blocklengths, "array_of_blocklengths");
  check_list(count, array_of_displacements, "array_of_displacements");
  const type_object& old = type_of(oldtype);
  return cook(MPI_COMBINER_HINDEXED)
      .number(count)
      .numbers(array_of_blocklengths, count)
      .addresses(array_of_displacements, count)
      .type(oldtype)
      .serve(layout::indexed(lengths_of(count, array_of_blocklengths),
                             offsets_of(count, array_of_displacements, 1), *old.layout),
             newtype);
}

int impl::Type_create_indexed_block(MPI_Count count, MPI_Count blocklength,
                                    const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                                    MPI_Datatype* newtype) {
  check_list(count, array_of_displacements, "array_of_displacements");
  check_count(blocklength);
  const type_object& old = type_of(oldtype);
  const std::vector<std::size_t> lengths(static_cast<std::size_t>(count),
                                         static_cast<std::size_t>(blocklength));
  return cook(MPI_COMBINER_INDEXED_BLOCK)
      .number(count)
      .number(blocklength)
      .numbers(array_of_displacements, count)
      .type(oldtype)
      .serve(
          layout::indexed(lengths, offsets_of(count, array_of_displacements, old.layout->extent()),
                          *old.layout),
          newtype);
}

int impl::Type_create_hindexed_block(MPI_Count count, MPI_Count blocklength,
                                     const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                                     MPI_Datatype* newtype) {
  check_list(count, array_of_displacements, "array_of_displacements");
  check_count(blocklength);
  const type_object& old = type_of(oldtype);
  const std::vector<std::size_t> lengths(static_cast<std::size_t>(count),
                                         static_cast<std::size_t>(blocklength));
  return cook(MPI_COMBINER_HINDEXED_BLOCK)
      .number(count)
      .number(blocklength)
      .addresses(array_of_displacements, count)
      .type(oldtype)
      .serve(layout::indexed(lengths, offsets_of(count, array_of_displacements, 1), *old.layout),
             newtype);
}

int impl::Type_create_struct(MPI_Count count, const MPI_Count array_of_blocklengths[],
                             const MPI_Count array_of_displacements[],
                             const MPI_Datatype array_of_types[], MPI_Datatype* newtype) {
  check_list(count, array_of_blocklengths, "array_of_blocklengths");
  check_list(count, array_of_displacements, "array_of_displacements");
  check_list(count, array_of_types, "array_of_types");
  cook c(MPI_COMBINER_STRUCT);
  c.number(count).numbers(array_of_blocklengths, count).addresses(array_of_displacements, count);
  std::vector<const layout::datatype*> types;
  for (MPI_Count i = 0; i < count; ++i) {
    types.push_back(type_of(array_of_types[i]).layout.get());
    c.type(array_of_types[i]);
  }
  return c.serve(layout::structure(lengths_of(count, array_of_blocklengths),
                                   offsets_of(count, array_of_displacements, 1), types),
                 newtype);
}

int impl::Type_create_resized(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent,
                              MPI_Datatype* newtype) {
  return cook(MPI_COMBINER_RESIZED)
      .address(lb)
      .address(extent)
      .type(oldtype)
      .serve(layout::resized(*type_of(oldtype).layout, lb, extent), newtype);
}

int impl::Type_dup(MPI_Datatype oldtype, MPI_Datatype* newtype) {
  const type_object& old = type_of(oldtype);
  check_out(newtype, "newtype");
  *newtype = MPI_DATATYPE_NULL;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  (void)cook(MPI_COMBINER_DUP).type(oldtype).serve(layout::duplicate(*old.layout), &made);
  SINEW_ASSERT(made != MPI_DATATYPE_NULL);
  type_object& fresh = type_of(made);
  fresh.committed = old.committed;
  try {
    copy_attributes(attached_to::type, oldtype, old.attached, fresh.attached);
  } catch (...) {
    drop(&fresh);
    throw;
  }
  *newtype = made;
  return MPI_SUCCESS;
}

int impl::Type_create_subarray(int ndims, const MPI_Count array_of_sizes[],
                               const MPI_Count array_of_subsizes[],
                               const MPI_Count array_of_starts[], int order, MPI_Datatype oldtype,
                               MPI_Datatype* newtype) {
  const type_object& old = type_of(oldtype);
  if (ndims < 1) {
    fail(MPI_ERR_DIMS, "the number of dimensions is %d", ndims);
  }
  check_out(array_of_sizes, "array_of_sizes");
  check_out(array_of_subsizes, "array_of_subsizes");
  check_out(array_of_starts, "array_of_starts");
  if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN) {
    fail(MPI_ERR_ARG, "%d is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN", order);
  }
  for (int d = 0; d < ndims; ++d) {
    if (array_of_subsizes[d] < 1 || array_of_sizes[d] < array_of_subsizes[d] ||
        array_of_starts[d] < 0 || array_of_starts[d] > array_of_sizes[d] - array_of_subsizes[d]) {
      fail(MPI_ERR_ARG, "dimension %d: %lld elements from %lld do not lie in an array of %lld", d,
           static_cast<long long>(array_of_subsizes[d]), static_cast<long long>(array_of_starts[d]),
           static_cast<long long>(array_of_sizes[d]));
    }
  }
  // From the fastest-varying dimension outwards: a vector of what is made so far.
  layout::datatype_ref part = layout::share(*old.layout);
  std::ptrdiff_t row = old.layout->extent();
  std::ptrdiff_t start = 0;
  for (int i = 0; i < ndims; ++i) {
    const int d = order == MPI_ORDER_C ? ndims - 1 - i : i;
    part = layout::vector(static_cast<std::size_t>(array_of_subsizes[d]), 1, row, *part);
    start += array_of_starts[d] * row;
    row *= array_of_sizes[d];
  }
  const std::size_t one = 1;
  part = layout::indexed({&one, 1}, {&start, 1}, *part);
  return cook(MPI_COMBINER_SUBARRAY)
      .integer(ndims)
      .numbers(array_of_sizes, ndims)
      .numbers(array_of_subsizes, ndims)
      .numbers(array_of_starts, ndims)
      .integer(order)
      .type(oldtype)
      .serve(layout::resized(*part, 0, row), newtype);
}

int impl::Type_create_darray(int size, int rank, int ndims, const MPI_Count array_of_gsizes[],
                             const int array_of_distribs[], const int array_of_dargs[],
                             const int array_of_psizes[], int order, MPI_Datatype oldtype,
                             MPI_Datatype* newtype) {
  const type_object& old = type_of(oldtype);
  if (ndims < 1) {
    fail(MPI_ERR_DIMS, "the number of dimensions is %d", ndims);
  }
  for (const void* list :
       {static_cast<const void*>(array_of_gsizes), static_cast<const void*>(array_of_distribs),
        static_cast<const void*>(array_of_dargs), static_cast<const void*>(array_of_psizes)}) {
    check_out(list, "array");
  }
  if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN) {
    fail(MPI_ERR_ARG, "%d is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN", order);
  }
  if (rank < 0 || rank >= size) {
    fail(MPI_ERR_ARG, "rank %d is not below %d", rank, size);
  }
  std::vector<distribution> dimensions;
  int processes = 1;
  for (int d = 0; d < ndims; ++d) {
    if (array_of_psizes[d] < 1 || array_of_gsizes[d] < 1) {
      fail(MPI_ERR_ARG, "dimension %d has no elements or no processes", d);
    }
    processes *= array_of_psizes[d];
    dimensions.push_back(
        {array_of_gsizes[d], array_of_distribs[d], array_of_dargs[d], array_of_psizes[d], 0});
  }
  if (processes != size) {
    fail(MPI_ERR_ARG, "the grid has %d processes, not %d", processes, size);
  }
  // The process grid is in row-major order whatever the order of the array (section 5.1.4).
  for (int d = 0, rest = rank; d < ndims; ++d) {
    processes /= array_of_psizes[d];
    dimensions[static_cast<std::size_t>(d)].coordinate = rest / processes;
    rest %= processes;
  }
  if (order == MPI_ORDER_C) {
    std::reverse(dimensions.begin(), dimensions.end());
  }
  layout::datatype_ref part = layout::share(*old.layout);
  for (const distribution& d : dimensions) {
    part = distributed(d, *part);
  }
  return cook(MPI_COMBINER_DARRAY)
      .integer(size)
      .integer(rank)
      .integer(ndims)
      .numbers(array_of_gsizes, ndims)
      .integers(array_of_distribs, ndims)
      .integers(array_of_dargs, ndims)
      .integers(array_of_psizes, ndims)
      .integer(order)
      .type(oldtype)
      .serve(std::move(part), newtype);
}

int impl::Type_commit(MPI_Datatype* datatype) {
  check_out(datatype, "datatype");
  type_of(*datatype).committed = true;
  return MPI_SUCCESS;
}

int impl::Type_free(MPI_Datatype* datatype) {
  check_out(datatype, "datatype");
  type_object& t = type_of(*datatype);
  if (t.made.combiner == MPI_COMBINER_NAMED) {
    fail(MPI_ERR_TYPE, "the predefined datatype %s cannot be freed", t.name.c_str());
  }
  delete_attributes(attached_to::type, *datatype, t.attached);
  drop(&t);
  *datatype = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
