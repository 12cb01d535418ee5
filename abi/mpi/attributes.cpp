// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 section 7.7: attributes of communicators, datatypes and windows.
#include "abi/mpi/attributes.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/type.hpp"
#include "abi/mpi/window.hpp"
#include "sinew/base/check.hpp"
#include "sinew/dynamic/spawned_job.hpp"

namespace sinew::mpi {
namespace {

using copy_function = int(void* object, int key, void* extra, void* in, void* out, int* flag);
using delete_function = int(void* object, int key, void* value, void* extra);

/// The callbacks of the three kinds differ only in the type of the handle, which is a pointer in
/// each: called as if it were void*, as every C ABI in question allows.
struct key_record {
  attached_to what;
  language written_in;
  copy_function* copy;
  delete_function* remove;
  void* extra;
  int uses = 0;        ///< values attached under it
  bool freed = false;  ///< goes with its last value
};

constexpr int first_key = 1000;
static_assert(first_key > MPI_LASTUSEDCODE && first_key > MPI_WIN_MODEL);
static_assert(first_key > MPI_KEYVAL_INVALID);

struct key_table {
  std::mutex lock;
  std::unordered_map<int, key_record> keys;
  int next = first_key;
};
key_table& table() {
  static auto& it = *new key_table;
  return it;
}

const char* name_of(attached_to what) {
  return what == attached_to::comm   ? "communicators"
         : what == attached_to::type ? "datatypes"
                                     : "windows";
}

thread_local language next_call = language::c;

/// The language that the present call comes from: what SINEW_caller_is_fortran() has said of it.
language language_of_caller() { return std::exchange(next_call, language::c); }

int create(attached_to what, void* copy, void* remove, int* key, void* extra) {
  const language from = language_of_caller();
  check_out(key, "keyval");
  const std::lock_guard held(table().lock);
  *key = table().next++;
  SINEW_ASSERT(!table().keys.contains(*key));
  table().keys[*key] = {what, from, reinterpret_cast<copy_function*>(copy),
                        reinterpret_cast<delete_function*>(remove), extra};
  return MPI_SUCCESS;
}

/// A copy, because callbacks run without the lock.
key_record record_of(attached_to what, int key) {
  const std::lock_guard held(table().lock);
  const auto at = table().keys.find(key);
  if (at == table().keys.end() || at->second.what != what) {
    fail(MPI_ERR_KEYVAL, "%d is no attribute key of %s", key, name_of(what));
  }
  return at->second;
}

void count_use(int key, int change) {
  SINEW_EXPECT(change == 1 || change == -1);
  const std::lock_guard held(table().lock);
  const auto at = table().keys.find(key);
  if (at == table().keys.end()) {
    return;
  }
  at->second.uses += change;
  SINEW_ASSERT(at->second.uses >= 0);
  if (at->second.freed && at->second.uses == 0) {
    table().keys.erase(at);
  }
}

int free_key(attached_to what, int* key) {
  check_out(key, "keyval");
  // While values hold it a key may be freed again: programs do so, above all in delete functions.
  (void)record_of(what, *key);
  const std::lock_guard held(table().lock);
  const auto at = table().keys.find(*key);
  if (at != table().keys.end()) {
    at->second.freed = true;
    if (at->second.uses == 0) {
      table().keys.erase(at);
    }
  }
  *key = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}

auto find(attributes& all, int key) {
  return std::find_if(all.begin(), all.end(), [key](const attribute& a) { return a.key == key; });
}

/// A value as functions in the key's language get it.
void* as_seen_by(const key_record& k, const attribute& a) {
  return k.written_in == language::c ? a.in_c() : a.value;
}

void call_delete(const key_record& k, void* object, const attribute& a) {
  if (k.remove == nullptr) {
    return;
  }
  SINEW_ASSERT(a.key >= first_key);
  const int key = a.key;
  const int code = k.remove(object, key, as_seen_by(k, a), k.extra);
  if (code != MPI_SUCCESS) {
    throw failure{code, "the delete function of attribute key " + std::to_string(key) + " failed"};
  }
}

/// Takes the value under `key` out, unless the delete function has done so itself.
void detach(attributes& all, int key) {
  const auto at = find(all, key);
  if (at == all.end()) {
    return;
  }
  all.erase(at);
  count_use(key, -1);
}

int set(attached_to what, void* object, attributes& all, int key, void* value) {
  const language from = language_of_caller();
  const key_record k = record_of(what, key);
  count_use(key, 1);  // the new value's, before the old one's goes
  const auto at = find(all, key);
  if (at != all.end()) {
    try {
      call_delete(k, object, *at);
    } catch (...) {
      count_use(key, -1);
      throw;
    }
    detach(all, key);
  }
  const auto integer = static_cast<int>(reinterpret_cast<std::intptr_t>(value));
  all.push_back({key, from, value, integer});
  return MPI_SUCCESS;
}

int get(attached_to what, attributes& all, int key, void* value, int* flag) {
  const language by = language_of_caller();
  check_out(value, "attribute_val");
  check_out(flag, "flag");
  (void)record_of(what, key);
  const auto at = find(all, key);
  *flag = at != all.end();
  if (*flag != 0) {
    *static_cast<void**>(value) = by == language::c ? at->in_c() : at->value;
  }
  return MPI_SUCCESS;
}

int remove(attached_to what, void* object, attributes& all, int key) {
  const key_record k = record_of(what, key);
  const auto at = find(all, key);
  if (at == all.end()) {
    fail(MPI_ERR_KEYVAL, "no value is attached under key %d", key);
  }
  call_delete(k, object, *at);
  detach(all, key);
  return MPI_SUCCESS;
}

/// The attributes that MPI itself attaches; null for other keys.
int* predefined_value(int key) {
  static int tag_ub = p2p::max_tag.value();
  static int no_host = MPI_PROC_NULL;
  static int any = MPI_ANY_SOURCE;
  static int yes = 1;
  static int application;
  static thread_local int last_code;
  static int size;
  switch (key) {
    case MPI_TAG_UB:
      return &tag_ub;
    case MPI_HOST:
      return &no_host;
    case MPI_IO:
      return &any;
    case MPI_WTIME_IS_GLOBAL:
      return &yes;
    case MPI_APPNUM:
      application = process.runtime->session().where().application;
      return &application;
    case MPI_UNIVERSE_SIZE:
      size = dynamic::universe_size(*process.runtime);
      return &size;
    case MPI_LASTUSEDCODE:
      last_code = last_used_code();
      return &last_code;
    default:
      return nullptr;
  }
}

void check_not_predefined(int key) {
  if (predefined_value(key) != nullptr) {
    fail(MPI_ERR_KEYVAL, "the predefined attribute %d cannot be changed", key);
  }
}

}  // namespace

void copy_attributes(attached_to what, void* old_handle, const attributes& from, attributes& to) {
  for (const attribute& a : from) {
    SINEW_ASSERT(a.key >= first_key);
    const key_record k = record_of(what, a.key);
    if (k.copy == nullptr) {
      continue;
    }
    attribute made = a;
    int flag = 1;
    if (value_of(reinterpret_cast<void*>(k.copy)) != 1) {
      void* const seen = as_seen_by(k, a);
      void* copied = seen;
      const int code = k.copy(old_handle, a.key, k.extra, seen, &copied, &flag);
      if (code != MPI_SUCCESS) {
        throw failure{code,
                      "the copy function of attribute key " + std::to_string(a.key) + " failed"};
      }
      if (copied != seen) {  // else also the address of Fortran's integer means the integer
        made = {a.key, k.written_in, copied,
                static_cast<int>(reinterpret_cast<std::intptr_t>(copied))};
      }
    }
    if (flag != 0) {
      to.push_back(made);
      count_use(a.key, 1);
    }
  }
}

void delete_attributes(attached_to what, void* handle, attributes& from) {
  while (!from.empty()) {
    const int key = from.back().key;
    call_delete(record_of(what, key), handle, from.back());
    detach(from, key);
  }
}

int impl::Comm_create_keyval(MPI_Comm_copy_attr_function* comm_copy_attr_fn,
                             MPI_Comm_delete_attr_function* comm_delete_attr_fn, int* comm_keyval,
                             void* extra_state) {
  return create(attached_to::comm, reinterpret_cast<void*>(comm_copy_attr_fn),
                reinterpret_cast<void*>(comm_delete_attr_fn), comm_keyval, extra_state);
}

int impl::Type_create_keyval(MPI_Type_copy_attr_function* type_copy_attr_fn,
                             MPI_Type_delete_attr_function* type_delete_attr_fn, int* type_keyval,
                             void* extra_state) {
  return create(attached_to::type, reinterpret_cast<void*>(type_copy_attr_fn),
                reinterpret_cast<void*>(type_delete_attr_fn), type_keyval, extra_state);
}

int impl::Win_create_keyval(MPI_Win_copy_attr_function* win_copy_attr_fn,
                            MPI_Win_delete_attr_function* win_delete_attr_fn, int* win_keyval,
                            void* extra_state) {
  return create(attached_to::win, reinterpret_cast<void*>(win_copy_attr_fn),
                reinterpret_cast<void*>(win_delete_attr_fn), win_keyval, extra_state);
}

int impl::Comm_free_keyval(int* comm_keyval) { return free_key(attached_to::comm, comm_keyval); }
int impl::Type_free_keyval(int* type_keyval) { return free_key(attached_to::type, type_keyval); }
int impl::Win_free_keyval(int* win_keyval) { return free_key(attached_to::win, win_keyval); }

int impl::Comm_set_attr(MPI_Comm comm, int comm_keyval, void* attribute_val) {
  check_not_predefined(comm_keyval);
  return set(attached_to::comm, comm, local_comm_of(comm).attached, comm_keyval, attribute_val);
}

int impl::Comm_get_attr(MPI_Comm comm, int comm_keyval, void* attribute_val, int* flag) {
  comm_object& c = local_comm_of(comm);
  if (int* value = predefined_value(comm_keyval)) {
    check_out(attribute_val, "attribute_val");
    check_out(flag, "flag");
    *static_cast<void**>(attribute_val) = value;
    *flag = 1;
    return MPI_SUCCESS;
  }
  return get(attached_to::comm, c.attached, comm_keyval, attribute_val, flag);
}

int impl::Comm_delete_attr(MPI_Comm comm, int comm_keyval) {
  check_not_predefined(comm_keyval);
  return remove(attached_to::comm, comm, local_comm_of(comm).attached, comm_keyval);
}

int impl::Type_set_attr(MPI_Datatype datatype, int type_keyval, void* attribute_val) {
  return set(attached_to::type, datatype, type_of(datatype).attached, type_keyval, attribute_val);
}

int impl::Type_get_attr(MPI_Datatype datatype, int type_keyval, void* attribute_val, int* flag) {
  return get(attached_to::type, type_of(datatype).attached, type_keyval, attribute_val, flag);
}

int impl::Type_delete_attr(MPI_Datatype datatype, int type_keyval) {
  return remove(attached_to::type, datatype, type_of(datatype).attached, type_keyval);
}

// The names of MPI-1.

int impl::Keyval_create(MPI_Copy_function* copy_fn, MPI_Delete_function* delete_fn, int* keyval,
                        void* extra_state) {
  return Comm_create_keyval(copy_fn, delete_fn, keyval, extra_state);
}
int impl::Keyval_free(int* keyval) { return free_key(attached_to::comm, keyval); }
int impl::Attr_put(MPI_Comm comm, int keyval, void* attribute_val) {
  return Comm_set_attr(comm, keyval, attribute_val);
}
int impl::Attr_get(MPI_Comm comm, int keyval, void* attribute_val, int* flag) {
  return Comm_get_attr(comm, keyval, attribute_val, flag);
}
int impl::Attr_delete(MPI_Comm comm, int keyval) { return Comm_delete_attr(comm, keyval); }

namespace {

/// The attributes that MPI attaches to windows (section 12.2.7); null for other keys.
void* predefined_value(window_object& w, int key) {
  switch (key) {
    case MPI_WIN_BASE:
      return w.flavor == MPI_WIN_FLAVOR_DYNAMIC ? nullptr
                                                : w.memory->base_of(w.comm->comm->rank().value());
    case MPI_WIN_SIZE:
      return &w.bytes;
    case MPI_WIN_DISP_UNIT:
      return &w.unit;
    case MPI_WIN_CREATE_FLAVOR:
      return &w.flavor;
    case MPI_WIN_MODEL:
      return &w.model;
    default:
      return nullptr;
  }
}

bool is_predefined_of_windows(int key) { return key >= MPI_WIN_BASE && key <= MPI_WIN_MODEL; }

void check_not_of_windows(int key) {
  if (is_predefined_of_windows(key)) {
    fail(MPI_ERR_KEYVAL, "the predefined attribute %d cannot be changed", key);
  }
}

}  // namespace

int impl::Win_get_attr(MPI_Win win, int win_keyval, void* attribute_val, int* flag) {
  return on_window(win, [&](window_object& w) -> int {
    if (!is_predefined_of_windows(win_keyval)) {
      return get(attached_to::win, w.attached, win_keyval, attribute_val, flag);
    }
    check_out(attribute_val, "attribute_val");
    check_out(flag, "flag");
    *static_cast<void**>(attribute_val) = predefined_value(w, win_keyval);
    *flag = 1;
    return MPI_SUCCESS;
  });
}

int impl::Win_set_attr(MPI_Win win, int win_keyval, void* attribute_val) {
  return on_window(win, [&](window_object& w) -> int {
    check_not_of_windows(win_keyval);
    return set(attached_to::win, win, w.attached, win_keyval, attribute_val);
  });
}

int impl::Win_delete_attr(MPI_Win win, int win_keyval) {
  return on_window(win, [&](window_object& w) -> int {
    check_not_of_windows(win_keyval);
    return remove(attached_to::win, win, w.attached, win_keyval);
  });
}

}  // namespace sinew::mpi

extern "C" [[gnu::visibility("default")]] void SINEW_caller_is_fortran(int integer_bytes) {
  using sinew::mpi::language;
  sinew::mpi::next_call = integer_bytes == 0 ? language::c
                          : integer_bytes == static_cast<int>(sizeof(int))
                              ? language::fortran_int
                              : language::fortran_address;
}
