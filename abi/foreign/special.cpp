// SPDX-License-Identifier: BSD-3-Clause
// Procedures whose arguments say different things in different calls: values of attributes, the
// contents of datatypes, objects of the tool interface; and arrays that only a root has.
#include "abi/foreign/convert.hpp"

using namespace sinew;
using namespace sinew::foreign;

namespace sinew::foreign {
namespace {

/// The neighbours of a topology that this rank receives from, and sends to; 0 without one.
struct degrees {
  int in = 0;
  int out = 0;
};

degrees degrees_of(MPI_Comm c) {
  int kind = MPI_UNDEFINED;
  (void)standard().Topo_test(c, &kind);
  degrees found;
  if (kind == MPI_CART) {
    (void)standard().Cartdim_get(c, &found.in);
    found.in *= 2;
    found.out = found.in;
  } else if (kind == MPI_GRAPH) {
    int rank = 0;
    (void)standard().Comm_rank(c, &rank);
    (void)standard().Graph_neighbors_count(c, rank, &found.in);
    found.out = found.in;
  } else if (kind == MPI_DIST_GRAPH) {
    int is_weighted = 0;
    (void)standard().Dist_graph_neighbors_count(c, &found.in, &found.out, &is_weighted);
  }
  return found;
}

/// None if the handle is bad: the call itself says so.
bool is_communicator(comm c) { return c != to_foreign(MPI_COMM_NULL) && is_handle<MPI_Comm>(c); }

int ranks_of(comm c) {
  if (!is_communicator(c)) {
    return 0;
  }
  const auto of = from_foreign<MPI_Comm>(c);
  int is_inter = 0;
  int size = 0;
  (void)standard().Comm_test_inter(of, &is_inter);
  (void)(is_inter != 0 ? standard().Comm_remote_size(of, &size) : standard().Comm_size(of, &size));
  return size;
}

}  // namespace

int out_peers(comm c, bool of_neighbours) {
  return !of_neighbours       ? ranks_of(c)
         : is_communicator(c) ? degrees_of(from_foreign<MPI_Comm>(c)).out
                              : 0;
}
int in_peers(comm c, bool of_neighbours) {
  return !of_neighbours       ? ranks_of(c)
         : is_communicator(c) ? degrees_of(from_foreign<MPI_Comm>(c)).in
                              : 0;
}

namespace {

// --- attributes ----------------------------------------------------------------------------------

/// Predefined attributes are addresses of numbers, of which some mean another thing in each ABI.
/// What is returned for those is each thread's own, and holds until it asks for the same again.
void* predefined_value(int key, void* value) {
  static thread_local int told[4];
  const auto other = [&](int place, int number) {
    told[place] = number;
    return static_cast<void*>(&told[place]);
  };
  switch (key) {
    case MPI_HOST:
    case MPI_IO:
      return other(0, number_to<ranks>(*static_cast<int*>(value)));
    case MPI_LASTUSEDCODE:
      return other(1, code_to(*static_cast<int*>(value)));
    case MPI_WIN_CREATE_FLAVOR:
      return other(2, number_to<flavors>(*static_cast<int*>(value)));
    case MPI_WIN_MODEL:
      return other(3, number_to<memory_models>(*static_cast<int*>(value)));
    default:
      return value;
  }
}

template <class Standard, class Get>
int get_attribute(foreign_of<Standard> of, int key, void* to, int* flag, Get* get) {
  const int standard_key = number_from<keys>(key);
  const int code = get(from_foreign<Standard>(of), standard_key, to, flag);
  if (code == MPI_SUCCESS && *flag != 0) {
    void*& value = *static_cast<void**>(to);
    value = predefined_value(standard_key, value);
  }
  return code_to(code);
}

// --- contents of datatypes -----------------------------------------------------------------------

/// The numbers of a datatype's contents, as they stood in the call that made it (MPI-5.0 section
/// 5.1.13): orders, distributions and their arguments have other values in each ABI.
/// `large`: the sizes stand elsewhere.
void translate_integers(int combiner, int* at, bool large) {
  if (combiner == MPI_COMBINER_SUBARRAY) {
    int& order = at[large ? 1 : 1 + 3 * at[0]];
    order = number_to<orders>(order);
  } else if (combiner == MPI_COMBINER_DARRAY) {
    const int dimensions = at[2];
    int* const distribution = at + 3 + (large ? 0 : dimensions);
    for (int i = 0; i < dimensions; ++i) {
      distribution[i] = number_to<distributions>(distribution[i]);
      int& argument = distribution[dimensions + i];
      argument = number_to<distribution_arguments>(argument);
    }
    int& order = distribution[3 * dimensions];
    order = number_to<orders>(order);
  }
}

/// Contents' datatypes are handles that the caller frees.
class datatypes_out : public entries<MPI_Datatype> {
 public:
  datatypes_out(foreign::datatype* to, long count) : entries(to, count), to_(to) {
    for (std::size_t i = 0; i < size(); ++i) {
      (*this)[i] = nullptr;
    }
  }
  datatypes_out(const datatypes_out&) = delete;
  datatypes_out& operator=(const datatypes_out&) = delete;
  ~datatypes_out() {
    for (std::size_t i = 0; i < size(); ++i) {
      if ((*this)[i] != nullptr) {
        to_[i] = to_foreign((*this)[i]);
      }
    }
  }

 private:
  foreign::datatype* to_;
};

// --- objects of the tool interface ---------------------------------------------------------------

/// A handle of the program's, by a pointer, as the standard's by a pointer.
class tool_object {
 public:
  tool_object(int bind, void* at) {
    static constexpr struct {
      int bind;
      void* (*load)(const void* at);
    } kinds[] = {
        {MPI_T_BIND_MPI_COMM, loaded<MPI_Comm>},
        {MPI_T_BIND_MPI_DATATYPE, loaded<MPI_Datatype>},
        {MPI_T_BIND_MPI_ERRHANDLER, loaded<MPI_Errhandler>},
        {MPI_T_BIND_MPI_FILE, loaded<MPI_File>},
        {MPI_T_BIND_MPI_GROUP, loaded<MPI_Group>},
        {MPI_T_BIND_MPI_INFO, loaded<MPI_Info>},
        {MPI_T_BIND_MPI_MESSAGE, loaded<MPI_Message>},
        {MPI_T_BIND_MPI_OP, loaded<MPI_Op>},
        {MPI_T_BIND_MPI_REQUEST, loaded<MPI_Request>},
        {MPI_T_BIND_MPI_SESSION, loaded<MPI_Session>},
        {MPI_T_BIND_MPI_WIN, loaded<MPI_Win>},
    };
    for (const auto& kind : kinds) {
      if (at != nullptr && kind.bind == bind) {
        handle_ = kind.load(at);
        is_there_ = true;
      }
    }
  }
  [[nodiscard]] void* at() noexcept { return is_there_ ? static_cast<void*>(&handle_) : nullptr; }

 private:
  template <class Standard>
  static void* loaded(const void* at) {
    return from_foreign<Standard>(*static_cast<const foreign_of<Standard>*>(at));
  }
  void* handle_ = nullptr;
  bool is_there_ = false;
};

int variable_binding(int index) {
  int bind = MPI_T_BIND_NO_OBJECT;
  (void)standard().T_cvar_get_info(index, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                   nullptr, &bind, nullptr);
  return bind;
}
int measure_binding(int index) {
  int bind = MPI_T_BIND_NO_OBJECT;
  (void)standard().T_pvar_get_info(index, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                   nullptr, nullptr, &bind, nullptr, nullptr, nullptr);
  return bind;
}
int event_binding(int index) {
  int bind = MPI_T_BIND_NO_OBJECT;
  (void)standard().T_event_get_info(index, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                    nullptr, nullptr, nullptr, nullptr, &bind);
  return bind;
}

bool is_root(comm c, int root) {
  int rank = MPI_PROC_NULL;
  // A root is a rank, which is the same in all ABIs.
  return is_communicator(c) &&
         standard().Comm_rank(from_foreign<MPI_Comm>(c), &rank) == MPI_SUCCESS && rank == root;
}

/// The codes of ranks, which all ranks get, and of which the root alone knows how many there are.
/// Whether ranks were spawned or not is told to all; other errors may be one rank's own.
int spawned(int code, int* codes, int count, int root, comm c) {
  if (code == MPI_SUCCESS || code == MPI_ERR_SPAWN) {
    (void)standard().Bcast(&count, 1, MPI_INT, root, from_foreign<MPI_Comm>(c));
    codes_to(codes, count);
  }
  return code_to(code);
}

}  // namespace
}  // namespace sinew::foreign

#pragma GCC visibility push(default)
extern "C" {

#define SINEW_ATTRIBUTE(Name, Handle, type)                              \
  int PMPI_##Name(type of, int key, void* value, int* flag) {            \
    return get_attribute<Handle>(of, key, value, flag, standard().Name); \
  }                                                                      \
  SINEW_TWIN(MPI_##Name) int MPI_##Name(type of, int key, void* value, int* flag)
SINEW_ATTRIBUTE(Comm_get_attr, MPI_Comm, foreign::comm);
SINEW_ATTRIBUTE(Attr_get, MPI_Comm, foreign::comm);
SINEW_ATTRIBUTE(Type_get_attr, MPI_Datatype, foreign::datatype);
SINEW_ATTRIBUTE(Win_get_attr, MPI_Win, foreign::win);
#undef SINEW_ATTRIBUTE

int PMPI_Type_get_contents(foreign::datatype datatype, int max_integers, int max_addresses,
                           int max_datatypes, int integers[], MPI_Aint addresses[],
                           foreign::datatype types[]) {
  const auto of = from_foreign<MPI_Datatype>(datatype);
  const int code =
      standard().Type_get_contents(of, max_integers, max_addresses, max_datatypes, integers,
                                   addresses, datatypes_out(types, max_datatypes).data());
  if (code == MPI_SUCCESS) {
    int n[3] = {};
    int combiner = 0;
    (void)standard().Type_get_envelope(of, &n[0], &n[1], &n[2], &combiner);
    translate_integers(combiner, integers, false);
  }
  return code_to(code);
}
SINEW_TWIN(MPI_Type_get_contents)
int MPI_Type_get_contents(foreign::datatype datatype, int max_integers, int max_addresses,
                          int max_datatypes, int integers[], MPI_Aint addresses[],
                          foreign::datatype types[]);

int PMPI_Type_get_contents_c(foreign::datatype datatype, MPI_Count max_integers,
                             MPI_Count max_addresses, MPI_Count max_large_counts,
                             MPI_Count max_datatypes, int integers[], MPI_Aint addresses[],
                             MPI_Count large_counts[], foreign::datatype types[]) {
  const auto of = from_foreign<MPI_Datatype>(datatype);
  const int code = standard().Type_get_contents_c(of, max_integers, max_addresses, max_large_counts,
                                                  max_datatypes, integers, addresses, large_counts,
                                                  datatypes_out(types, max_datatypes).data());
  if (code == MPI_SUCCESS) {
    MPI_Count n[4] = {};
    int combiner = 0;
    (void)standard().Type_get_envelope_c(of, &n[0], &n[1], &n[2], &n[3], &combiner);
    translate_integers(combiner, integers, n[2] != 0);
  }
  return code_to(code);
}
SINEW_TWIN(MPI_Type_get_contents_c)
int MPI_Type_get_contents_c(foreign::datatype datatype, MPI_Count max_integers,
                            MPI_Count max_addresses, MPI_Count max_large_counts,
                            MPI_Count max_datatypes, int integers[], MPI_Aint addresses[],
                            MPI_Count large_counts[], foreign::datatype types[]);

int PMPI_Comm_spawn(const char* command, char* argv[], int maxprocs, foreign::info info, int root,
                    foreign::comm comm, foreign::comm* intercomm, int codes[]) {
  const bool here = is_root(comm, root);
  const int code = standard().Comm_spawn(
      command, argv, maxprocs, here ? from_foreign<MPI_Info>(info) : MPI_INFO_NULL, root,
      from_foreign<MPI_Comm>(comm), handle_out<MPI_Comm>(intercomm).at(), codes);
  return spawned(code, codes, here ? maxprocs : 0, root, comm);
}
SINEW_TWIN(MPI_Comm_spawn)
int MPI_Comm_spawn(const char* command, char* argv[], int maxprocs, foreign::info info, int root,
                   foreign::comm comm, foreign::comm* intercomm, int codes[]);

int PMPI_Comm_spawn_multiple(int count, char* commands[], char** argv[], const int maxprocs[],
                             const foreign::info infos[], int root, foreign::comm comm,
                             foreign::comm* intercomm, int codes[]) {
  const int here = is_root(comm, root) ? count : 0;
  int all = 0;
  for (int i = 0; i < here; ++i) {
    all += maxprocs[i];
  }
  const int code = standard().Comm_spawn_multiple(
      count, commands, argv, maxprocs, handles_in<MPI_Info>(infos, here).data(), root,
      from_foreign<MPI_Comm>(comm), handle_out<MPI_Comm>(intercomm).at(), codes);
  return spawned(code, codes, all, root, comm);
}
SINEW_TWIN(MPI_Comm_spawn_multiple)
int MPI_Comm_spawn_multiple(int count, char* commands[], char** argv[], const int maxprocs[],
                            const foreign::info infos[], int root, foreign::comm comm,
                            foreign::comm* intercomm, int codes[]);

int PMPI_T_cvar_handle_alloc(int index, void* object, MPI_T_cvar_handle* handle, int* count) {
  return code_to(standard().T_cvar_handle_alloc(
      index, tool_object(variable_binding(index), object).at(), handle, count));
}
SINEW_TWIN(MPI_T_cvar_handle_alloc)
int MPI_T_cvar_handle_alloc(int index, void* object, MPI_T_cvar_handle* handle, int* count);

int PMPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int index, void* object,
                             MPI_T_pvar_handle* handle, int* count) {
  return code_to(standard().T_pvar_handle_alloc(
      session, index, tool_object(measure_binding(index), object).at(), handle, count));
}
SINEW_TWIN(MPI_T_pvar_handle_alloc)
int MPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int index, void* object,
                            MPI_T_pvar_handle* handle, int* count);

int PMPI_T_event_handle_alloc(int index, void* object, foreign::info info,
                              MPI_T_event_registration* handle) {
  return code_to(standard().T_event_handle_alloc(
      index, tool_object(event_binding(index), object).at(), from_foreign<MPI_Info>(info), handle));
}
SINEW_TWIN(MPI_T_event_handle_alloc)
int MPI_T_event_handle_alloc(int index, void* object, foreign::info info,
                             MPI_T_event_registration* handle);

int PMPI_T_event_get_info(int index, char* name, int* name_length, int* verbosity,
                          foreign::datatype types[], MPI_Aint displacements[], int* count,
                          MPI_T_enum* names, foreign::info* info, char* text, int* text_length,
                          int* bind) {
  return code_to(standard().T_event_get_info(
      index, name, name_length, number_out<verbosities>(verbosity).at(),
      datatypes_out(types, count == nullptr ? 0 : *count).data(), displacements, count, names,
      handle_out<MPI_Info>(info).at(), text, text_length, number_out<bindings>(bind).at()));
}
SINEW_TWIN(MPI_T_event_get_info)
int MPI_T_event_get_info(int index, char* name, int* name_length, int* verbosity,
                         foreign::datatype types[], MPI_Aint displacements[], int* count,
                         MPI_T_enum* names, foreign::info* info, char* text, int* text_length,
                         int* bind);

/// A library of this ABI says that it is not of the standard's: programs ask it, to know.
int PMPI_Abi_get_version(int* major, int* minor) {
  *major = -1;
  *minor = -1;
  return MPI_SUCCESS;
}
SINEW_TWIN(MPI_Abi_get_version) int MPI_Abi_get_version(int* major, int* minor);

int PMPI_Pcontrol(const int level, ...) { return code_to(standard().Pcontrol(level)); }
SINEW_TWIN(MPI_Pcontrol) int MPI_Pcontrol(const int level, ...);

#define SINEW_EXTENSION(Name, parameters, ...)                                      \
  int PMPIX_##Name parameters { return code_to(standard().X_##Name(__VA_ARGS__)); } \
  [[gnu::weak, gnu::alias("PMPIX_" #Name)]] int MPIX_##Name parameters
SINEW_EXTENSION(Comm_revoke, (foreign::comm comm), from_foreign<MPI_Comm>(comm));
SINEW_EXTENSION(Comm_is_revoked, (foreign::comm comm, int* flag), from_foreign<MPI_Comm>(comm),
                flag);
SINEW_EXTENSION(Comm_shrink, (foreign::comm comm, foreign::comm* made),
                from_foreign<MPI_Comm>(comm), handle_out<MPI_Comm>(made).at());
SINEW_EXTENSION(Comm_ishrink, (foreign::comm comm, foreign::comm* made, foreign::request* request),
                from_foreign<MPI_Comm>(comm), handle_out<MPI_Comm>(made).at(),
                handle_out<MPI_Request>(request).at());
SINEW_EXTENSION(Comm_agree, (foreign::comm comm, int* flag), from_foreign<MPI_Comm>(comm), flag);
SINEW_EXTENSION(Comm_iagree, (foreign::comm comm, int* flag, foreign::request* request),
                from_foreign<MPI_Comm>(comm), flag, handle_out<MPI_Request>(request).at());
SINEW_EXTENSION(Comm_get_failed, (foreign::comm comm, foreign::group* failed),
                from_foreign<MPI_Comm>(comm), handle_out<MPI_Group>(failed).at());
SINEW_EXTENSION(Comm_ack_failed, (foreign::comm comm, int count, int* acked),
                from_foreign<MPI_Comm>(comm), count, acked);
SINEW_EXTENSION(Comm_failure_ack, (foreign::comm comm), from_foreign<MPI_Comm>(comm));
SINEW_EXTENSION(Comm_failure_get_acked, (foreign::comm comm, foreign::group* failed),
                from_foreign<MPI_Comm>(comm), handle_out<MPI_Group>(failed).at());
#undef SINEW_EXTENSION

}  // extern "C"
#pragma GCC visibility pop
