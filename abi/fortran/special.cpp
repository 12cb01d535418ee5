// SPDX-License-Identifier: BSD-3-Clause
// Procedures that the generator leaves out: callbacks, arrays of texts, results that depend on the
// language. Compiled twice, as the generated ones are.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "abi/fortran/callbacks.hpp"
#include "abi/fortran/convert.hpp"

using namespace sinew::fortran;

// Weak: libraries of the ABI that are older than these functions do not have them.
extern "C" {
#pragma weak PMPI_Abi_get_fortran_booleans
#pragma weak PMPI_Abi_set_fortran_booleans
#pragma weak MPI_Abi_get_fortran_booleans
#pragma weak MPI_Abi_set_fortran_booleans
}

namespace {

int warn_of_library(int code) {
  if (code == MPI_SUCCESS) {
    std::fputs(
        "sinew: warning: MPI in Fortran: this libmpi_abi has no MPI_Abi_set_fortran_booleans, so "
        "that it cannot know the compiler's LOGICALs (reductions of MPI_LOGICAL may be wrong): "
        "take "
        "a library of MPI-5.0.\n",
        stderr);
  }
  return code;
}

// What the standard has C's library know of Fortran (section 20.4). It may know already, and then
// refuses to be told. After MPI_Init: a library may not take it earlier.
int with_fortran_described(int code) {
  int yes = mpi_fortran_true;
  int no = mpi_fortran_false;
  int is_set = 0;
  if (PMPI_Abi_get_fortran_booleans == nullptr || PMPI_Abi_set_fortran_booleans == nullptr) {
    return warn_of_library(code);
  }
  if (code == MPI_SUCCESS &&
      PMPI_Abi_get_fortran_booleans(sizeof yes, &yes, &no, &is_set) == MPI_SUCCESS && is_set == 0) {
    yes = mpi_fortran_true;
    no = mpi_fortran_false;
    PMPI_Abi_set_fortran_booleans(sizeof yes, &yes, &no);
  }
  return code;
}

void return_buffer(void* to, void* buffer) {
  void* const chosen = buffer == MPI_BUFFER_AUTOMATIC ? automatic_cell() : buffer;
  std::memcpy(to, &chosen, sizeof chosen);
}

/// Texts of one length each, as C wants them: they and their addresses, with a null at the end.
class texts {
 public:
  texts() = default;
  /// Up to `most`, or, if that is negative, up to a blank one.
  texts(const char* from, std::size_t length, std::size_t step, long most) {
    for (long i = 0; most < 0 || i < most; ++i) {
      const char* one = from + static_cast<std::size_t>(i) * step;
      std::size_t end = length;
      while (end > 0 && one[end - 1] == ' ') {
        --end;
      }
      if (most < 0 && end == 0) {
        break;
      }
      std::size_t begin = 0;
      while (begin < end && one[begin] == ' ') {
        ++begin;
      }
      all_.emplace_back(one + begin, end - begin);
    }
    for (std::string& one : all_) {
      at_.push_back(one.data());
    }
    at_.push_back(nullptr);
  }
  char** data() { return at_.data(); }

 private:
  std::vector<std::string> all_;
  std::vector<char*> at_;
};

int* errcodes_at(int* codes) { return is_errcodes_ignore(codes) ? MPI_ERRCODES_IGNORE : codes; }

}  // namespace

extern "C" {

// --- start ---------------------------------------------------------------------------------------

void FORTRAN(init)(int* ierror) {
  done(ierror, with_fortran_described(MPI(Init)(nullptr, nullptr)));
}
SAME_AS(init) void F08(init)(int* ierror);

void FORTRAN(init_thread)(const int* required, int* provided, int* ierror) {
  done(ierror, with_fortran_described(MPI(Init_thread)(nullptr, nullptr, *required, provided)));
}
SAME_AS(init_thread)
void F08(init_thread)(const int* required, int* provided, int* ierror);

void FORTRAN(pcontrol)(const int* level) { MPI(Pcontrol)(*level); }
SAME_AS(pcontrol) void F08(pcontrol)(const int* level);

void FORTRAN(info_create_env)(int* info, int* ierror) {
  done(ierror, MPI(Info_create_env)(0, nullptr, handle_out<MPI_Info>(info).at()));
}
SAME_AS(info_create_env) void F08(info_create_env)(int* info, int* ierror);

// The patterns themselves are passed, not their meaning.
void FORTRAN(abi_get_fortran_booleans)(const int* size, int* yes, int* no, int* is_set,
                                       int* ierror) {
  if (MPI(Abi_get_fortran_booleans) == nullptr) {
    done(ierror, MPI_ERR_UNSUPPORTED_OPERATION);
    return;
  }
  done(ierror, MPI(Abi_get_fortran_booleans)(*size, yes, no, logical_out(is_set).at()));
}
SAME_AS(abi_get_fortran_booleans)
void F08(abi_get_fortran_booleans)(const int* size, int* yes, int* no, int* is_set, int* ierror);

void FORTRAN(abi_set_fortran_booleans)(const int* size, const int* yes, const int* no,
                                       int* ierror) {
  if (MPI(Abi_set_fortran_booleans) == nullptr) {
    done(ierror, MPI_ERR_UNSUPPORTED_OPERATION);
    return;
  }
  done(ierror, MPI(Abi_set_fortran_booleans)(*size, const_cast<int*>(yes), const_cast<int*>(no)));
}
SAME_AS(abi_set_fortran_booleans)
void F08(abi_set_fortran_booleans)(const int* size, const int* yes, const int* no, int* ierror);

// --- buffers that are given back -----------------------------------------------------------------

// In mpif.h and module mpi the address is not returned (section 3.6 of the standard).
void FORTRAN(buffer_detach)(void*, int* size, int* ierror) {
  void* buffer = nullptr;
  done(ierror, MPI(Buffer_detach)(&buffer, size));
}

void F08(buffer_detach)(void* to, int* size, int* ierror) {
  void* buffer = nullptr;
  const int code = MPI(Buffer_detach)(&buffer, size);
  return_buffer(to, buffer);
  done(ierror, code);
}

void F08_C(buffer_detach)(void* to, MPI_Count* size, int* ierror) {
  void* buffer = nullptr;
  const int code = MPI(Buffer_detach_c)(&buffer, size);
  return_buffer(to, buffer);
  done(ierror, code);
}
F08_LARGE(buffer_detach, f08)

void FORTRAN(comm_detach_buffer)(const int* comm, void*, int* size, int* ierror) {
  void* buffer = nullptr;
  done(ierror, MPI(Comm_detach_buffer)(from_fortran<MPI_Comm>(comm), &buffer, size));
}

void F08(comm_detach_buffer)(const int* comm, void* to, int* size, int* ierror) {
  void* buffer = nullptr;
  const int code = MPI(Comm_detach_buffer)(from_fortran<MPI_Comm>(comm), &buffer, size);
  return_buffer(to, buffer);
  done(ierror, code);
}

void F08_C(comm_detach_buffer)(const int* comm, void* to, MPI_Count* size, int* ierror) {
  void* buffer = nullptr;
  const int code = MPI(Comm_detach_buffer_c)(from_fortran<MPI_Comm>(comm), &buffer, size);
  return_buffer(to, buffer);
  done(ierror, code);
}

void FORTRAN(session_detach_buffer)(const int* session, void*, int* size, int* ierror) {
  void* buffer = nullptr;
  done(ierror, MPI(Session_detach_buffer)(from_fortran<MPI_Session>(session), &buffer, size));
}

void F08(session_detach_buffer)(const int* session, void* to, int* size, int* ierror) {
  void* buffer = nullptr;
  const int code = MPI(Session_detach_buffer)(from_fortran<MPI_Session>(session), &buffer, size);
  return_buffer(to, buffer);
  done(ierror, code);
}

void F08_C(session_detach_buffer)(const int* session, void* to, MPI_Count* size, int* ierror) {
  void* buffer = nullptr;
  const int code = MPI(Session_detach_buffer_c)(from_fortran<MPI_Session>(session), &buffer, size);
  return_buffer(to, buffer);
  done(ierror, code);
}

// --- texts whose lengths C counts with their zero ------------------------------------------------

void FORTRAN(info_get)(const int* info, const char* key, const int* valuelen, char* value,
                       int* flag, int* ierror, std::size_t key_length, std::size_t value_length) {
  const int most = std::max(*valuelen, 0);
  scratch<char> text(static_cast<long>(most) + 1);
  int found = 0;
  const int code =
      MPI(Info_get)(from_fortran<MPI_Info>(info),
                    text_in(key, key_length, blanks::both_ends).data(), most, text.data(), &found);
  if (code == MPI_SUCCESS && found != 0) {
    text_out to(value, value_length, static_cast<std::size_t>(most));
    std::memcpy(to.data(), text.data(), std::strlen(text.data()) + 1);
  }
  *flag = logical(found);
  done(ierror, code);
}
SAME_AS(info_get)
void F08(info_get)(const int* info, const char* key, const int* valuelen, char* value, int* flag,
                   int* ierror, std::size_t key_length, std::size_t value_length);

void FORTRAN(info_get_string)(const int* info, const char* key, int* buflen, char* value, int* flag,
                              int* ierror, std::size_t key_length, std::size_t value_length) {
  // 0 asks for the length alone; then the value is left as it is.
  const int most = std::max(0, std::min(*buflen, static_cast<int>(value_length)));
  scratch<char> text(static_cast<long>(most) + 1);
  int length = most == 0 ? 0 : most + 1;
  int found = 0;
  const int code = MPI(Info_get_string)(from_fortran<MPI_Info>(info),
                                        text_in(key, key_length, blanks::both_ends).data(), &length,
                                        text.data(), &found);
  if (code == MPI_SUCCESS && found != 0) {
    if (most > 0) {
      text_out to(value, value_length, static_cast<std::size_t>(most));
      std::memcpy(to.data(), text.data(), std::strlen(text.data()) + 1);
    }
    *buflen = length - 1;
  }
  *flag = logical(found);
  done(ierror, code);
}
SAME_AS(info_get_string)
void F08(info_get_string)(const int* info, const char* key, int* buflen, char* value, int* flag,
                          int* ierror, std::size_t key_length, std::size_t value_length);

void FORTRAN(session_get_nth_pset)(const int* session, const int* info, const int* n, int* pset_len,
                                   char* name, int* ierror, std::size_t name_length) {
  const int most = std::max(0, std::min(*pset_len, static_cast<int>(name_length)));
  scratch<char> text(static_cast<long>(most) + 1);
  int length = most == 0 ? 0 : most + 1;
  const int code = MPI(Session_get_nth_pset)(
      from_fortran<MPI_Session>(session), from_fortran<MPI_Info>(info), *n, &length, text.data());
  if (code == MPI_SUCCESS) {
    if (most > 0) {
      text_out to(name, name_length, static_cast<std::size_t>(most));
      std::memcpy(to.data(), text.data(), std::strlen(text.data()) + 1);
    }
    *pset_len = length - 1;
  }
  done(ierror, code);
}
SAME_AS(session_get_nth_pset)
void F08(session_get_nth_pset)(const int* session, const int* info, const int* n, int* pset_len,
                               char* name, int* ierror, std::size_t name_length);

// --- processes -----------------------------------------------------------------------------------

// The arguments' array is told from MPI_ARGV_NULL by its address.
void FORTRAN(comm_spawn)(const char* command, const char* argv, const int* maxprocs,
                         const int* info, const int* root, const int* comm, int* intercomm,
                         int* errcodes, int* ierror, std::size_t command_length,
                         std::size_t argv_length) {
  int rank = 0;
  PMPI_Comm_rank(from_fortran<MPI_Comm>(comm), &rank);
  const bool given = rank == *root && !is_argv_null(argv);
  texts arguments = given ? texts(argv, argv_length, argv_length, -1) : texts();
  done(ierror, MPI(Comm_spawn)(text_in(command, command_length, blanks::both_ends).data(),
                               given ? arguments.data() : MPI_ARGV_NULL, *maxprocs,
                               from_fortran<MPI_Info>(info), *root, from_fortran<MPI_Comm>(comm),
                               handle_out<MPI_Comm>(intercomm).at(), errcodes_at(errcodes)));
}
SAME_AS(comm_spawn)
void F08(comm_spawn)(const char* command, const char* argv, const int* maxprocs, const int* info,
                     const int* root, const int* comm, int* intercomm, int* errcodes, int* ierror,
                     std::size_t command_length, std::size_t argv_length);

void FORTRAN(comm_spawn_multiple)(const int* count, const char* commands, const char* argv,
                                  const int* maxprocs, const int* infos, const int* root,
                                  const int* comm, int* intercomm, int* errcodes, int* ierror,
                                  std::size_t command_length, std::size_t argv_length) {
  int rank = 0;
  PMPI_Comm_rank(from_fortran<MPI_Comm>(comm), &rank);
  const long many = rank == *root ? *count : 0;
  const bool given = many > 0 && !is_argvs_null(argv);
  texts programs(commands, command_length, command_length, many);
  std::vector<texts> arguments;
  std::vector<char**> at;
  for (long i = 0; given && i < many; ++i) {
    // argv(count, *): the arguments of one command are `count` elements apart.
    arguments.emplace_back(argv + static_cast<std::size_t>(i) * argv_length, argv_length,
                           argv_length * static_cast<std::size_t>(many), -1);
  }
  for (texts& one : arguments) {
    at.push_back(one.data());
  }
  done(ierror, MPI(Comm_spawn_multiple)(
                   *count, programs.data(), given ? at.data() : MPI_ARGVS_NULL, maxprocs,
                   handles_in<MPI_Info>(infos, many).data(), *root, from_fortran<MPI_Comm>(comm),
                   handle_out<MPI_Comm>(intercomm).at(), errcodes_at(errcodes)));
}
SAME_AS(comm_spawn_multiple)
void F08(comm_spawn_multiple)(const int* count, const char* commands, const char* argv,
                              const int* maxprocs, const int* infos, const int* root,
                              const int* comm, int* intercomm, int* errcodes, int* ierror,
                              std::size_t command_length, std::size_t argv_length);

// --- datatypes' contents -------------------------------------------------------------------------

void FORTRAN(type_get_contents)(const int* datatype, const int* max_integers,
                                const int* max_addresses, const int* max_datatypes, int* integers,
                                MPI_Aint* addresses, int* datatypes, int* ierror) {
  MPI_Datatype type = from_fortran<MPI_Datatype>(datatype);
  int counts[4] = {};
  int code = PMPI_Type_get_envelope(type, &counts[0], &counts[1], &counts[2], &counts[3]);
  scratch<MPI_Datatype> types(std::max(*max_datatypes, 0));
  if (code == MPI_SUCCESS) {
    code = MPI(Type_get_contents)(type, *max_integers, *max_addresses, *max_datatypes, integers,
                                  addresses, types.data());
  }
  for (int i = 0; code == MPI_SUCCESS && i < std::min(counts[2], *max_datatypes); ++i) {
    datatypes[i] = to_fortran(types[static_cast<std::size_t>(i)]);
  }
  done(ierror, code);
}
SAME_AS(type_get_contents)
void F08(type_get_contents)(const int* datatype, const int* max_integers, const int* max_addresses,
                            const int* max_datatypes, int* integers, MPI_Aint* addresses,
                            int* datatypes, int* ierror);

void F08_C(type_get_contents)(const int* datatype, const MPI_Count* max_integers,
                              const MPI_Count* max_addresses, const MPI_Count* max_large_counts,
                              const MPI_Count* max_datatypes, int* integers, MPI_Aint* addresses,
                              MPI_Count* large_counts, int* datatypes, int* ierror) {
  MPI_Datatype type = from_fortran<MPI_Datatype>(datatype);
  MPI_Count counts[4] = {};
  int combiner = 0;
  int code =
      PMPI_Type_get_envelope_c(type, &counts[0], &counts[1], &counts[2], &counts[3], &combiner);
  scratch<MPI_Datatype> types(std::max<long>(*max_datatypes, 0));
  if (code == MPI_SUCCESS) {
    code =
        MPI(Type_get_contents_c)(type, *max_integers, *max_addresses, *max_large_counts,
                                 *max_datatypes, integers, addresses, large_counts, types.data());
  }
  for (MPI_Count i = 0; code == MPI_SUCCESS && i < std::min(counts[3], *max_datatypes); ++i) {
    datatypes[i] = to_fortran(types[static_cast<std::size_t>(i)]);
  }
  done(ierror, code);
}
F08_LARGE(type_get_contents, f08)

// --- what C does not have ------------------------------------------------------------------------

void F08TS(sizeof)(const descriptor* x, int* size, int* ierror) {
  *size = static_cast<int>(element_bytes(*x));
  done(ierror, MPI_SUCCESS);
}

// The compiler cannot know that nothing happens here (section 19.1.16).
void FORTRAN(f_sync_reg)(void*) {}
SAME_AS(f_sync_reg) F08_BY_ADDRESS void F08(f_sync_reg)(void*);
void F08TS(f_sync_reg)(const descriptor*) {}

void FORTRAN(status_f2f08)(const int* from, MPI_Status* to, int* ierror) {
  std::memcpy(to, from, sizeof *to);
  done(ierror, MPI_SUCCESS);
}
SAME_AS(status_f2f08) void F08(status_f2f08)(const int* from, MPI_Status* to, int* ierror);

void FORTRAN(status_f082f)(const MPI_Status* from, int* to, int* ierror) {
  std::memcpy(to, from, sizeof *from);
  done(ierror, MPI_SUCCESS);
}
SAME_AS(status_f082f) void F08(status_f082f)(const MPI_Status* from, int* to, int* ierror);

// --- callbacks -----------------------------------------------------------------------------------

void FORTRAN(op_create)(callback* user, const int* commute, int* op, int* ierror) {
  MPI_User_function* const call = operation_of(user);
  done(ierror, call == nullptr
                   ? no_slot("user operations")
                   : MPI(Op_create)(call, truth(*commute), handle_out<MPI_Op>(op).at()));
}
SAME_AS(op_create)
void F08(op_create)(callback* user, const int* commute, int* op, int* ierror);

void F08_C(op_create)(callback* user, const int* commute, int* op, int* ierror) {
  MPI_User_function_c* const call = large_operation_of(user);
  done(ierror, call == nullptr
                   ? no_slot("user operations with large counts")
                   : MPI(Op_create_c)(call, truth(*commute), handle_out<MPI_Op>(op).at()));
}

#define SINEW_ERRHANDLER(name, Name, of)                                                    \
  void FORTRAN(name##_create_errhandler)(callback * user, int* errhandler, int* ierror) {   \
    auto* const call = of(user);                                                            \
    done(ierror, call == nullptr ? no_slot("error handlers")                                \
                                 : MPI(Name##_create_errhandler)(                           \
                                       call, handle_out<MPI_Errhandler>(errhandler).at())); \
  }                                                                                         \
  SAME_AS(name##_create_errhandler)                                                         \
  void F08(name##_create_errhandler)(callback * user, int* errhandler, int* ierror);
SINEW_ERRHANDLER(comm, Comm, comm_errhandler_of)
SINEW_ERRHANDLER(file, File, file_errhandler_of)
SINEW_ERRHANDLER(session, Session, session_errhandler_of)
SINEW_ERRHANDLER(win, Win, win_errhandler_of)
#undef SINEW_ERRHANDLER

void FORTRAN(grequest_start)(callback* query, callback* release, callback* cancel, MPI_Aint* state,
                             int* request, int* ierror) {
  auto all =
      std::make_unique<request_procedures>(request_procedures{query, release, cancel, state});
  const int code = MPI(Grequest_start)(grequest_query, grequest_free, grequest_cancel, all.get(),
                                       handle_out<MPI_Request>(request).at());
  if (code == MPI_SUCCESS) {
    (void)all.release();  // grequest_free()
  }
  done(ierror, code);
}
SAME_AS(grequest_start)
void F08(grequest_start)(callback* query, callback* release, callback* cancel, MPI_Aint* state,
                         int* request, int* ierror);

void mpi_conversion_fn_null_(void*, int*, int*, void*, MPI_Offset*, MPI_Aint*, int*);
void mpi_conversion_fn_null_c_(void*, int*, MPI_Count*, void*, MPI_Offset*, MPI_Aint*, int*);
// Of other MPIs' mpi_f08 (abi/foreign).
[[gnu::weak]] void __mpi_f08_callbacks_MOD_mpi_conversion_fn_null();
[[gnu::weak]] void __mpi_f08_callbacks_MOD_mpi_conversion_fn_null_c();

}  // extern "C"

namespace {

MPI_Datarep_conversion_function* converter_of(callback* user,
                                              MPI_Datarep_conversion_function* other) {
  const bool none = user == reinterpret_cast<callback*>(mpi_conversion_fn_null_) ||
                    user == __mpi_f08_callbacks_MOD_mpi_conversion_fn_null;
  return none ? MPI_CONVERSION_FN_NULL : other;
}

MPI_Datarep_conversion_function_c* converter_of(callback* user,
                                                MPI_Datarep_conversion_function_c* other) {
  const bool none = user == reinterpret_cast<callback*>(mpi_conversion_fn_null_c_) ||
                    user == __mpi_f08_callbacks_MOD_mpi_conversion_fn_null_c;
  return none ? MPI_CONVERSION_FN_NULL_C : other;
}

}  // namespace

extern "C" {

void FORTRAN(register_datarep)(const char* datarep, callback* read, callback* write,
                               callback* extent, const MPI_Aint* state, int* ierror,
                               std::size_t datarep_length) {
  auto all = std::make_unique<datarep_procedures>(datarep_procedures{read, write, extent, *state});
  const int code = MPI(Register_datarep)(
      text_in(datarep, datarep_length, blanks::end).data(), converter_of(read, datarep_read),
      converter_of(write, datarep_write), datarep_extent, all.get());
  if (code == MPI_SUCCESS) {
    (void)all.release();  // a representation is never forgotten
  }
  done(ierror, code);
}
SAME_AS(register_datarep)
void F08(register_datarep)(const char* datarep, callback* read, callback* write, callback* extent,
                           const MPI_Aint* state, int* ierror, std::size_t datarep_length);

void F08_C(register_datarep)(const char* datarep, callback* read, callback* write, callback* extent,
                             const MPI_Aint* state, int* ierror, std::size_t datarep_length) {
  auto all = std::make_unique<datarep_procedures>(datarep_procedures{read, write, extent, *state});
  const int code = MPI(Register_datarep_c)(
      text_in(datarep, datarep_length, blanks::end).data(), converter_of(read, datarep_read_large),
      converter_of(write, datarep_write_large), datarep_extent, all.get());
  if (code == MPI_SUCCESS) {
    (void)all.release();
  }
  done(ierror, code);
}

}  // extern "C"
