// SPDX-License-Identifier: BSD-3-Clause
// Datatypes of array sections, kept from call to call: a halo is exchanged by the same sections in
// every step, and making their datatypes takes longer than sending small ones. Warm.
#pragma once

#include "abi/fortran/section.hpp"

namespace sinew::fortran {

/// What the datatype of a section is made from.
struct section_key {
  enum form { counted, blocks };

  form how;
  MPI_Datatype element;  ///< the caller's
  MPI_Count count;       ///< of it; 0 for blocks
  shape where;

  bool operator==(const section_key& other) const;
};

/// A committed datatype, freed when its last holder lets it go. A holder may do so in another
/// thread: a fiber that waited meanwhile.
class held_type;

MPI_Datatype type_of(const held_type& held);

/// The datatype made from the same before, by this thread; null if there is none. The caller holds
/// it until release().
held_type* find_type(const section_key& key);

/// Holds `made`, and keeps it for find_type() if `key` names a predefined datatype: another's
/// handle may mean something else tomorrow.
held_type* keep_type(const section_key& key, MPI_Datatype made);

void release(held_type* held);

}  // namespace sinew::fortran
