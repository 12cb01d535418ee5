// Values that programs attach to communicators, datatypes and windows under keys of their own.
#pragma once

#include <utility>
#include <vector>

#include "c/mpi.h"

namespace sinew::mpi {

/// The (key, value) pairs of one object, in the order in which they were set. Cold.
using attributes = std::vector<std::pair<int, void*>>;

/// What a key belongs to.
enum class attached_to { comm, type, win };

/// Calls the copy functions of all keys; throws failure with the code of the first that fails.
void copy_attributes(attached_to what, void* old_handle, const attributes& from, attributes& to);

/// Calls the delete functions, latest first, and empties the set. Throws likewise.
void delete_attributes(attached_to what, void* handle, attributes& from);

}  // namespace sinew::mpi
