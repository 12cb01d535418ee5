// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 section 14.4: reading and writing.
#include "abi/mpi/file_access.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "abi/mpi/message.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {
namespace {

void set_file_status(MPI_Status* status, std::int64_t bytes) {
  set_empty(status);
  set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, static_cast<std::size_t>(bytes));
}

/// How a nonblocking access to a file has ended: when its call returned.
class finished_access final : public operation {
 public:
  void end(std::int64_t bytes) noexcept { bytes_ = bytes; }
  void fail(const io::failure& e) {
    code_ = code_of(e.kind);
    sentence_ = e.what();
  }

  bool ended(const request_object&) const noexcept override { return true; }
  void wait(request_object&) override {}
  int finish(request_object& r, MPI_Status* status, std::string* sentence) override {
    peek(r, status);
    if (sentence != nullptr) {
      *sentence = sentence_;
    }
    return code_;
  }
  void peek(const request_object&, MPI_Status* status) override { set_file_status(status, bytes_); }

 private:
  std::int64_t bytes_ = 0;
  int code_ = MPI_SUCCESS;
  std::string sentence_;
};

/// What converts the data; null if nothing does. `own`: the program's functions.
const io::conversion* conversion_by(const datarep& rep, io::direction way,
                                    const program_conversion& own) {
  if (rep.how == datarep::form::native) {
    return nullptr;
  }
  if (rep.how == datarep::form::external32) {
    return &io::external32();
  }
  const bool none = way == io::direction::read ? rep.read == nullptr && rep.read_large == nullptr
                                               : rep.write == nullptr && rep.write_large == nullptr;
  return none ? &io::packed() : &own;  // none: MPI_CONVERSION_FN_NULL
}

/// Checks the arguments; finish(file, access, where it begins) does the rest.
template <class Finish>
int with_access(MPI_File fh, const file_call& call, MPI_Offset offset, const users_buffer& b,
                Finish finish) {
  return on_file(fh, [&](file_object& f) -> int {
    f.opened->check_way(call.how, call.where, offset);
    const p2p::buffer memory = data_of(b.base, b.count, b.type);
    const datarep& rep = *f.seen_as.representation;
    const std::size_t each =
        rep.converts() && b.count != 0 ? in_file(rep, b.type)->size() : memory.type->size();
    const program_conversion own(rep, b.type, each);
    const io::access a =
        f.opened->checked_access(call.way, memory, each, conversion_by(rep, call.way, own));
    return finish(f, a, f.opened->begin(a, call.where, offset));
  });
}

}  // namespace

int access_file(MPI_File fh, const file_call& call, MPI_Offset offset, const users_buffer& b,
                MPI_Status* status) {
  return with_access(fh, call, offset, b, [&](file_object& f, const io::access& a, auto from) {
    set_file_status(status, f.opened->carry_out(a, call.how, from));
    return MPI_SUCCESS;
  });
}

int access_file(MPI_File fh, const file_call& call, MPI_Offset offset, const users_buffer& b,
                MPI_Request* request) {
  return with_access(fh, call, offset, b, [&](file_object& f, const io::access& a, auto from) {
    check_out(request, "request");
    auto made = std::make_unique<finished_access>();
    finished_access& outcome = *made;
    request_object& r = new_request(f.comm, std::move(made));
    try {
      outcome.end(f.opened->carry_out(a, call.how, from));
    } catch (const io::failure& e) {
      outcome.fail(e);
    } catch (...) {
      free_request(r);
      throw;
    }
    *request = handle_of<MPI_Request>(&r);
    return MPI_SUCCESS;
  });
}

int begin_access(MPI_File fh, const file_call& call, MPI_Offset offset, const users_buffer& b,
                 const char* end) {
  return with_access(fh, call, offset, b, [&](file_object& f, const io::access& a, auto from) {
    f.opened->begin_split(a, from, end);
    return MPI_SUCCESS;
  });
}

int end_access(MPI_File fh, const void* buf, const char* end, MPI_Status* status) {
  return on_file(fh, [&](file_object& f) -> int {
    set_file_status(status, f.opened->end_split(buf, end));
    return MPI_SUCCESS;
  });
}

}  // namespace sinew::mpi
