// SPDX-License-Identifier: BSD-3-Clause
// Functions of the program that MPI calls: with handles, statuses, codes and keys of the program's
// ABI. What has an argument of its own (attributes, generalized requests, data representations)
// finds the program's function behind that; operations and error handlers have slots.
#include <atomic>
#include <cstdio>
#include <memory>
#include <type_traits>

#include "abi/foreign/convert.hpp"
#include "abi/foreign/cxx_callers.hpp"
#include "abi/slots.hpp"

using namespace sinew;
using namespace sinew::foreign;

namespace sinew::foreign {
namespace {

template <class F>
slots::procedure* plain(F* f) {
  return reinterpret_cast<slots::procedure*>(f);
}

int no_slot(const char* what) {
  std::fprintf(stderr,
               "sinew: error: %d different functions are %s already, and there is no room for "
               "more: use one function for several of them.\n",
               slots::most, what);
  return code_to(standard().Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_INTERN));
}

int no_memory() { return code_to(standard().Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_NO_MEM)); }

// --- callers (cxx_callers.hpp) -------------------------------------------------------------------

/// Open MPI's library for C++ has functions of C that call those of C++.
constexpr bool has_callers = sizeof(foreign::comm) == sizeof(int);

/// By slots; null where the function is C's.
using callers = std::atomic<slots::procedure*>[slots::most];

struct key_callers {
  slots::procedure* copy_caller = nullptr;
  slots::procedure* delete_caller = nullptr;
};

thread_local std::atomic<slots::procedure*>* last_caller = nullptr;
thread_local key_callers* last_key = nullptr;

template <class F>
F* as(slots::procedure* function) {
  return reinterpret_cast<F*>(function);
}

// --- operations ----------------------------------------------------------------------------------

template <class Count>
slots::table operations;
template <class Count>
callers operation_callers;

template <class Count>
using operation = void(void* in, void* inout, Count* length, foreign::datatype* type);

template <class Count>
struct operation_of {
  template <int Slot>
  struct call {
    static void function(void* in, void* inout, Count* length, MPI_Datatype* type) {
      foreign::datatype of = to_foreign(*type);
      auto* const user = operations<Count>.template at<operation<Count>>(Slot);
      if constexpr (has_callers) {
        if (auto* const caller = operation_callers<Count>[Slot].load(std::memory_order_acquire)) {
          using call = void(const void*, void*, int, foreign::datatype, operation<Count>*);
          as<call>(caller)(in, inout, static_cast<int>(*length), of, user);
          return;
        }
      }
      user(in, inout, length, &of);
    }
  };
};

template <class F, class Count, class Create>
int create_operation(operation<Count>* function, int commutes, foreign::op* op, Create* create) {
  F* call = nullptr;
  if (function != nullptr) {
    call = slots::function_of<F, operation_of<Count>::template call>(operations<Count>,
                                                                     plain(function));
    if (call == nullptr) {
      return no_slot("operations");
    }
    last_caller = &operation_callers<Count>[operations<Count>.of(plain(function))];
  }
  return code_to(create(call, commutes, handle_out<MPI_Op>(op).at()));
}

// --- error handlers ------------------------------------------------------------------------------

template <class Standard>
slots::table errhandler_functions;

template <class Standard>
callers errhandler_callers;

template <class Standard>
using errhandler_function = void(foreign_of<Standard>* handle, int* code, ...);

template <class Standard>
struct errhandler_of {
  template <int Slot>
  struct call {
    static void function(Standard* handle, int* code, ...) {
      foreign_of<Standard> value = to_foreign(*handle);
      int told = code_to(*code);
      auto* const user =
          errhandler_functions<Standard>.template at<errhandler_function<Standard>>(Slot);
      slots::procedure* const caller =
          has_callers ? errhandler_callers<Standard>[Slot].load(std::memory_order_acquire)
                      : nullptr;
      if (caller != nullptr) {
        constexpr int kind = std::is_same_v<Standard, MPI_Comm>   ? 0
                             : std::is_same_v<Standard, MPI_File> ? 1
                                                                  : 2;
        as<void(int, void*, int*, slots::procedure*)>(caller)(kind, &value, &told, plain(user));
        told = MPI_SUCCESS;  // else C++ would take it for an error that nobody has seen
      } else {
        user(&value, &told);
      }
      *code = code_from(told);  // what the call returns
    }
  };
};

template <class Standard, class F, class Create>
int create_errhandler(errhandler_function<Standard>* function, foreign::errhandler* errhandler,
                      Create* create) {
  F* call = nullptr;
  if (function != nullptr) {
    call = slots::function_of<F, errhandler_of<Standard>::template call>(
        errhandler_functions<Standard>, plain(function));
    if (call == nullptr) {
      return no_slot("error handlers");
    }
    last_caller = &errhandler_callers<Standard>[errhandler_functions<Standard>.of(plain(function))];
  }
  return code_to(create(call, handle_out<MPI_Errhandler>(errhandler).at()));
}

// --- attributes ----------------------------------------------------------------------------------

template <class Standard>
using copy_function = int(foreign_of<Standard> from, int key, void* extra, void* in, void* out,
                          int* flag);
template <class Standard>
using delete_function = int(foreign_of<Standard> from, int key, void* value, void* extra);

/// Behind a key. Lives as long as the process: copies of an attribute may outlive its key.
template <class Standard>
struct attribute_functions : key_callers {
  attribute_functions(copy_function<Standard>* copies, delete_function<Standard>* erases,
                      void* with)
      : copy(copies), erase(erases), extra(with) {}
  copy_function<Standard>* copy;
  delete_function<Standard>* erase;
  void* extra;
};

constexpr int is_address = 0;  // what kind of value an attribute is

template <class Standard>
int call_copy(Standard from, int key, void* extra, void* in, void* out, int* flag) {
  const auto& all = *static_cast<attribute_functions<Standard>*>(extra);
  if constexpr (has_callers) {
    if (all.copy_caller != nullptr) {
      using call = int(slots::procedure*, int, int, void*, int, void*, void*, int*);
      return code_from(as<call>(all.copy_caller)(plain(all.copy), to_foreign(from),
                                                 number_to<keys>(key), all.extra, is_address, in,
                                                 out, flag));
    }
  }
  return code_from(all.copy(to_foreign(from), number_to<keys>(key), all.extra, in, out, flag));
}

template <class Standard>
int call_delete(Standard from, int key, void* value, void* extra) {
  const auto& all = *static_cast<attribute_functions<Standard>*>(extra);
  if constexpr (has_callers) {
    if (all.delete_caller != nullptr) {
      using call = int(slots::procedure*, int, int, int, void*, void*);
      return code_from(as<call>(all.delete_caller)(
          plain(all.erase), to_foreign(from), number_to<keys>(key), is_address, value, all.extra));
    }
  }
  return code_from(all.erase(to_foreign(from), number_to<keys>(key), value, all.extra));
}

/// The standard's predefined functions are what the ABI's are.
template <class Standard, class F>
F* copy_of(copy_function<Standard>* function) {
  if (is_null_copy(plain(function))) {
    return nullptr;
  }
  return is_duplicate(plain(function)) ? reinterpret_cast<F*>(MPI_COMM_DUP_FN)
                                       : &call_copy<Standard>;
}

template <class Standard, class Copy, class Delete, class Create>
int create_key(copy_function<Standard>* copy, delete_function<Standard>* erase, int* key,
               void* extra, Create* create) {
  std::unique_ptr<attribute_functions<Standard>> all(
      new (std::nothrow) attribute_functions<Standard>{copy, erase, extra});
  if (all == nullptr) {
    return no_memory();
  }
  Delete* const call = is_null_delete(plain(erase)) ? nullptr : &call_delete<Standard>;
  const int code =
      create(copy_of<Standard, Copy>(copy), call, number_out<keys>(key).at(), all.get());
  if (code == MPI_SUCCESS) {
    last_key = all.release();
  }
  return code_to(code);
}

// --- generalized requests, data representations
// ---------------------------------------------------

/// Of a generalized request: deleted when it is freed.
struct request_functions {
  int (*query)(void* extra, foreign::status* status);
  int (*release)(void* extra);
  int (*cancel)(void* extra, int complete);
  void* extra;
};

int query_request(void* state, MPI_Status* to) {
  const auto& all = *static_cast<request_functions*>(state);
  foreign::status told{};
  MPI_Status empty{};
  empty.MPI_SOURCE = MPI_ANY_SOURCE;
  empty.MPI_TAG = MPI_ANY_TAG;
  store(empty, told);
  const int code = all.query(all.extra, &told);
  load(told, *to);
  return code_from(code);
}
int free_request(void* state) {
  const std::unique_ptr<request_functions> all(static_cast<request_functions*>(state));
  return code_from(all->release(all->extra));
}
int cancel_request(void* state, int complete) {
  const auto& all = *static_cast<request_functions*>(state);
  return code_from(all.cancel(all.extra, complete));
}

template <class Count>
using conversion = int(void* user, foreign::datatype type, Count count, void* file,
                       MPI_Offset position, void* extra);
using extent_function = int(foreign::datatype type, MPI_Aint* extent, void* extra);

/// Lives as long as the process, as a data representation does.
template <class Count>
struct representation_functions {
  conversion<Count>* read;
  conversion<Count>* write;
  extent_function* extent;
  void* extra;
};

template <class Count>
int read_represented(void* user, MPI_Datatype type, Count count, void* file, MPI_Offset position,
                     void* state) {
  const auto& all = *static_cast<representation_functions<Count>*>(state);
  return code_from(all.read(user, to_foreign(type), count, file, position, all.extra));
}
template <class Count>
int write_represented(void* user, MPI_Datatype type, Count count, void* file, MPI_Offset position,
                      void* state) {
  const auto& all = *static_cast<representation_functions<Count>*>(state);
  return code_from(all.write(user, to_foreign(type), count, file, position, all.extra));
}
template <class Count>
int extent_represented(MPI_Datatype type, MPI_Aint* extent, void* state) {
  const auto& all = *static_cast<representation_functions<Count>*>(state);
  return code_from(all.extent(to_foreign(type), extent, all.extra));
}

template <class Count, class Register>
int register_representation(const char* name, conversion<Count>* read, conversion<Count>* write,
                            extent_function* extent, void* extra, Register* enter) {
  std::unique_ptr<representation_functions<Count>> all(
      new (std::nothrow) representation_functions<Count>{read, write, extent, extra});
  if (all == nullptr) {
    return no_memory();
  }
  const int code = enter(name, is_null_conversion(plain(read)) ? nullptr : &read_represented<Count>,
                         is_null_conversion(plain(write)) ? nullptr : &write_represented<Count>,
                         extent == nullptr ? nullptr : &extent_represented<Count>, all.get());
  if (code == MPI_SUCCESS) {
    (void)all.release();
  }
  return code_to(code);
}

// --- events of the tool interface ----------------------------------------------------------------

/// Lives as long as the process: an event may be under way when its handle goes.
template <class F>
struct event_function {
  F* call;
  void* extra;
};

using event_call = MPI_T_event_cb_function;
using dropped_call = MPI_T_event_dropped_cb_function;
using freed_call = MPI_T_event_free_cb_function;

void call_event(MPI_T_event_instance event, MPI_T_event_registration handle, MPI_T_cb_safety safety,
                void* state) {
  const auto& f = *static_cast<event_function<event_call>*>(state);
  f.call(event, handle, number_to<callback_safeties>(safety), f.extra);
}
void call_freed(MPI_T_event_registration handle, MPI_T_cb_safety safety, void* state) {
  const auto& f = *static_cast<event_function<freed_call>*>(state);
  f.call(handle, number_to<callback_safeties>(safety), f.extra);
}

slots::table dropped_functions;

/// It gets what the event's own function was registered with.
template <int Slot>
struct dropped {
  static void function(MPI_Count count, MPI_T_event_registration handle, int source,
                       MPI_T_cb_safety safety, void* state) {
    const auto* const f = static_cast<event_function<event_call>*>(state);
    dropped_functions.at<dropped_call>(Slot)(count, handle, source,
                                             number_to<callback_safeties>(safety),
                                             f == nullptr ? nullptr : f->extra);
  }
};

}  // namespace

void set_caller(slots::procedure* caller) {
  if (last_caller != nullptr) {
    last_caller->store(caller, std::memory_order_release);
  }
}

void set_key_callers(slots::procedure* copy, slots::procedure* erase) {
  if (last_key != nullptr) {
    last_key->copy_caller = copy;
    last_key->delete_caller = erase;
  }
}

}  // namespace sinew::foreign

#pragma GCC visibility push(default)
extern "C" {

void SINEW_set_operation(MPI_Op op, MPI_User_function* function);  // abi/mpi/op.cpp

/// For the binding of C++, which says after the creation what an operation calls.
void SINEW_set_foreign_operation(foreign::op op, operation<int>* function) {
  auto* const call = slots::function_of<MPI_User_function, operation_of<int>::call>(
      operations<int>, plain(function));
  if (call == nullptr) {
    (void)no_slot("operations");
  } else {
    SINEW_set_operation(from_foreign<MPI_Op>(op), call);
  }
}

int PMPI_Op_create(operation<int>* function, int commute, foreign::op* op) {
  return create_operation<MPI_User_function>(function, commute, op, standard().Op_create);
}
SINEW_TWIN(MPI_Op_create)
int MPI_Op_create(operation<int>* function, int commute, foreign::op* op);
int PMPI_Op_create_c(operation<MPI_Count>* function, int commute, foreign::op* op) {
  return create_operation<MPI_User_function_c>(function, commute, op, standard().Op_create_c);
}
SINEW_TWIN(MPI_Op_create_c)
int MPI_Op_create_c(operation<MPI_Count>* function, int commute, foreign::op* op);

#define SINEW_ERRHANDLER(Name)                                                   \
  int PMPI_##Name##_create_errhandler(errhandler_function<MPI_##Name>* function, \
                                      foreign::errhandler* errhandler) {         \
    return create_errhandler<MPI_##Name, MPI_##Name##_errhandler_function>(      \
        function, errhandler, standard().Name##_create_errhandler);              \
  }                                                                              \
  SINEW_TWIN(MPI_##Name##_create_errhandler)                                     \
  int MPI_##Name##_create_errhandler(errhandler_function<MPI_##Name>* function,  \
                                     foreign::errhandler* errhandler)
SINEW_ERRHANDLER(Comm);
SINEW_ERRHANDLER(File);
SINEW_ERRHANDLER(Session);
SINEW_ERRHANDLER(Win);
#undef SINEW_ERRHANDLER

#define SINEW_KEY(Name, Handle)                                                                    \
  int PMPI_##Name##_create_keyval(copy_function<Handle>* copy, delete_function<Handle>* erase,     \
                                  int* key, void* extra) {                                         \
    return create_key<Handle, MPI_##Name##_copy_attr_function, MPI_##Name##_delete_attr_function>( \
        copy, erase, key, extra, standard().Name##_create_keyval);                                 \
  }                                                                                                \
  SINEW_TWIN(MPI_##Name##_create_keyval)                                                           \
  int MPI_##Name##_create_keyval(copy_function<Handle>* copy, delete_function<Handle>* erase,      \
                                 int* key, void* extra)
SINEW_KEY(Comm, MPI_Comm);
SINEW_KEY(Type, MPI_Datatype);
SINEW_KEY(Win, MPI_Win);
#undef SINEW_KEY
int PMPI_Keyval_create(copy_function<MPI_Comm>* copy, delete_function<MPI_Comm>* erase, int* key,
                       void* extra) {
  return PMPI_Comm_create_keyval(copy, erase, key, extra);
}
SINEW_TWIN(MPI_Keyval_create)
int MPI_Keyval_create(copy_function<MPI_Comm>* copy, delete_function<MPI_Comm>* erase, int* key,
                      void* extra);

int PMPI_Grequest_start(int (*query)(void*, foreign::status*), int (*release)(void*),
                        int (*cancel)(void*, int), void* extra, foreign::request* request) {
  std::unique_ptr<request_functions> all(new (std::nothrow)
                                             request_functions{query, release, cancel, extra});
  if (all == nullptr) {
    return no_memory();
  }
  const int code = standard().Grequest_start(query == nullptr ? nullptr : query_request,
                                             release == nullptr ? nullptr : free_request,
                                             cancel == nullptr ? nullptr : cancel_request,
                                             all.get(), handle_out<MPI_Request>(request).at());
  if (code == MPI_SUCCESS) {
    (void)all.release();
  }
  return code_to(code);
}
SINEW_TWIN(MPI_Grequest_start)
int MPI_Grequest_start(int (*query)(void*, foreign::status*), int (*release)(void*),
                       int (*cancel)(void*, int), void* extra, foreign::request* request);

int PMPI_Register_datarep(const char* datarep, conversion<int>* read, conversion<int>* write,
                          extent_function* extent, void* extra) {
  return register_representation(datarep, read, write, extent, extra, standard().Register_datarep);
}
SINEW_TWIN(MPI_Register_datarep)
int MPI_Register_datarep(const char* datarep, conversion<int>* read, conversion<int>* write,
                         extent_function* extent, void* extra);
int PMPI_Register_datarep_c(const char* datarep, conversion<MPI_Count>* read,
                            conversion<MPI_Count>* write, extent_function* extent, void* extra) {
  return register_representation(datarep, read, write, extent, extra,
                                 standard().Register_datarep_c);
}
SINEW_TWIN(MPI_Register_datarep_c)
int MPI_Register_datarep_c(const char* datarep, conversion<MPI_Count>* read,
                           conversion<MPI_Count>* write, extent_function* extent, void* extra);

int PMPI_T_event_register_callback(MPI_T_event_registration handle, MPI_T_cb_safety safety,
                                   foreign::info info, void* extra, event_call* function) {
  if (function == nullptr) {
    return code_to(
        standard().T_event_register_callback(handle, number_from<callback_safeties>(safety),
                                             from_foreign<MPI_Info>(info), extra, nullptr));
  }
  auto* const kept = new (std::nothrow) event_function<event_call>{function, extra};
  return code_to(kept == nullptr ? MPI_T_ERR_MEMORY
                                 : standard().T_event_register_callback(
                                       handle, number_from<callback_safeties>(safety),
                                       from_foreign<MPI_Info>(info), kept, call_event));
}
SINEW_TWIN(MPI_T_event_register_callback)
int MPI_T_event_register_callback(MPI_T_event_registration handle, MPI_T_cb_safety safety,
                                  foreign::info info, void* extra, event_call* function);

int PMPI_T_event_handle_free(MPI_T_event_registration handle, void* extra, freed_call* function) {
  if (function == nullptr) {
    return code_to(standard().T_event_handle_free(handle, extra, nullptr));
  }
  auto* const kept = new (std::nothrow) event_function<freed_call>{function, extra};
  return code_to(kept == nullptr ? MPI_T_ERR_MEMORY
                                 : standard().T_event_handle_free(handle, kept, call_freed));
}
SINEW_TWIN(MPI_T_event_handle_free)
int MPI_T_event_handle_free(MPI_T_event_registration handle, void* extra, freed_call* function);

int PMPI_T_event_set_dropped_handler(MPI_T_event_registration handle, dropped_call* function) {
  dropped_call* call = nullptr;
  if (function != nullptr) {
    call = slots::function_of<dropped_call, dropped>(dropped_functions, plain(function));
    if (call == nullptr) {
      return code_to(MPI_T_ERR_MEMORY);
    }
  }
  return code_to(standard().T_event_set_dropped_handler(handle, call));
}
SINEW_TWIN(MPI_T_event_set_dropped_handler)
int MPI_T_event_set_dropped_handler(MPI_T_event_registration handle, dropped_call* function);

}  // extern "C"
#pragma GCC visibility pop
