// GCC 15 and 16: the compiler makes a function for each place of the program that reads or writes
// another image's data, and we call it with that image's data. The function runs here, on mapped
// memory. So it can use everything that lies in the coarray itself, but not what allocatable and
// pointer components stand for: they hold addresses of the other process. Which functions follow
// such components cannot be seen beforehand; one that does is stopped by the processor, and told
// from other faults by `accessing`.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "abi/coarray/failure.hpp"
#include "abi/coarray/gfortran.hpp"
#include "abi/coarray/images.hpp"
#include "abi/coarray/token.hpp"
#include "abi/coarray/traced.hpp"
#include "sinew/base/error.hpp"

using namespace sinew::coarray;

namespace {

using getter = void (*)(void* add_data, const int* caller, void** buffer, std::int32_t* free_buffer,
                        void* source, void* token, std::size_t, std::size_t* dst_length,
                        const std::size_t* src_length);
using receiver = void (*)(void* add_data, const int* caller, void* target, const void* source,
                          void* token, std::size_t, std::size_t* dst_length,
                          const std::size_t* src_length);
using presence = std::int32_t (*)(void* add_data, const int* caller, void* source, void* token,
                                  std::size_t);

/// Hashes of the program's functions, in the order of registration.
struct registry {
  std::vector<void*> functions;
  std::unordered_map<int, int> by_hash;
};
registry& all() {
  static auto& it = *new registry;
  return it;
}

void* function(int which) {
  if (which < 0 || static_cast<std::size_t>(which) >= all().functions.size()) {
    throw sinew::error("the compiler names accessor " + std::to_string(which),
                       "it has registered " + std::to_string(all().functions.size()));
  }
  return all().functions[static_cast<std::size_t>(which)];
}

/// The image whose data a function of the compiler's has now; 0: none has. Read by the handler,
/// which runs in this thread.
volatile sig_atomic_t accessing = 0;

constexpr std::array faults = {SIGSEGV, SIGBUS};
std::array<struct sigaction, faults.size()> handlers_before;

/// Says what it was, and leaves the rest to whoever handled faults before: the fault comes again.
void on_fault(int signal) {
  if (accessing != 0) {
    constexpr std::string_view text =
        "sinew: coarrays: an allocatable or pointer component of another image was followed, which "
        "is not supported with gfortran 15 and 16 (the component holds an address of the other "
        "process). Compile with gfortran 8 to 14, or make the component a coarray of its own.\n";
    (void)!::write(STDERR_FILENO, text.data(), text.size());
  }
  for (std::size_t i = 0; i < faults.size(); ++i) {
    if (faults[i] == signal) {
      (void)::sigaction(signal, &handlers_before[i], nullptr);
    }
  }
}

void explain_faults() {
  struct sigaction act{};
  act.sa_handler = on_fault;
  act.sa_flags = SA_ONSTACK;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    (void)::sigaction(faults[i], &act, &handlers_before[i]);
  }
}

/// While a function of the compiler's runs.
class access_scope {
 public:
  explicit access_scope(int image) {
    static const bool explained = (explain_faults(), true);
    (void)explained;
    accessing = image;
  }
  ~access_scope() { accessing = 0; }
  access_scope(const access_scope&) = delete;
  access_scope& operator=(const access_scope&) = delete;
};

/// The other image's part as the compiler's function wants it: its address, or a descriptor of it.
class target {
 public:
  target(void* token, const descriptor* shape, int rank) {
    base_ = the.engine->at(token_of(token).at(rank));
    if (shape != nullptr) {
      std::memcpy(
          &copy_, shape,
          offsetof(descriptor, dim) + sizeof(dimension) * static_cast<std::size_t>(shape->rank()));
      copy_.base = base_;
      described_ = true;
    }
  }
  [[nodiscard]] void* get() noexcept { return described_ ? static_cast<void*>(&copy_) : base_; }

 private:
  void* base_;
  bool described_ = false;
  descriptor copy_;
};

/// Of the team that is named by handle or number, or of the current one.
int rank_in(int image, void** team_given, const int* team_number, const outcome& out,
            const char* statement) {
  const team* t = team_given != nullptr && *team_given != nullptr
                      ? static_cast<const team*>(*team_given)
                      : the.now;
  if (team_number != nullptr && t->number() != *team_number) {
    const auto& known = all_teams();
    const auto found = std::find_if(known.begin(), known.end(), [&](const team* each) {
      return each->number() == *team_number && each->parent() == the.now->parent();
    });
    if (found == known.end()) {
      fail(out, stat::other, statement,
           "there is no team of number " + std::to_string(*team_number) +
               " that this image is in, or could be");
      return -1;
    }
    t = *found;
  }
  return rank_of(*t, image, out, statement);
}

int caller() noexcept { return the.now->me() + 1; }

/// Elements of a descriptor times their size.
std::size_t bytes_of(const descriptor& d) noexcept {
  std::size_t n = d.element.bytes;
  for (int i = 0; i < d.rank(); ++i) {
    n *= static_cast<std::size_t>(d.dim[i].extent());
  }
  return n;
}

struct fetch {
  void* token;
  const descriptor* shape;
  const std::size_t* length;
  int image_rank;
  int which;
  void* add_data;
};

/// Calls the getter. Of arrays it fills `array`, whose memory it may replace; of scalars it returns
/// their address. `*made`: there is memory to free().
void* call_getter(const fetch& f, descriptor* array, std::size_t* dst_length, bool* made) {
  target there(f.token, f.shape, f.image_rank);
  std::int32_t free_buffer = 0;
  void* scalar = nullptr;
  const int me = caller();
  void* buffer = array != nullptr ? static_cast<void*>(array) : static_cast<void*>(&scalar);
  token pseudo;
  const access_scope scope(f.image_rank + 1);
  reinterpret_cast<getter>(function(f.which))(f.add_data, &me, static_cast<void**>(buffer),
                                              &free_buffer, there.get(), &pseudo, 0, dst_length,
                                              f.length);
  *made = free_buffer != 0;
  return array != nullptr ? array->base : scalar;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void _gfortran_caf_register_accessor(int hash, void* accessor) {
  if (all().by_hash.emplace(hash, static_cast<int>(all().functions.size())).second) {
    all().functions.push_back(accessor);
  }
}

/// Comes after each batch of registrations; the table is ready at any time.
void _gfortran_caf_register_accessors_finish() {}

int _gfortran_caf_get_remote_function_index(int hash) {
  const auto found = all().by_hash.find(hash);
  return found == all().by_hash.end() ? -1 : found->second;
}

void _gfortran_caf_get_from_remote(void* token, const descriptor* src,
                                   const std::size_t* src_length, int image, std::size_t dst_size,
                                   void** dst_data, std::size_t* dst_length, descriptor* dst,
                                   bool may_realloc_dst, int which, void* add_data, std::size_t,
                                   int* stat, void** team, int* team_number) {
  const outcome out{stat};
  constexpr const char* statement = "reference to another image";
  const int rank = rank_in(image, team, team_number, out, statement);
  if (rank < 0) {
    return;
  }
  guarded(out, statement, [&] {
    const traced here(sinew::trace::kind::get, "get", image);
    const fetch f{token, src, src_length, rank, which, add_data};
    bool made = false;
    if (dst == nullptr) {
      const void* found = call_getter(f, nullptr, dst_length, &made);
      const std::size_t n = dst_length != nullptr ? *dst_length * dst_size : dst_size;
      if (may_realloc_dst && n != 0) {
        *dst_data = std::realloc(*dst_data, n);
      }
      {
        const access_scope scope(rank + 1);  // `found` may be behind a component
        std::memcpy(*dst_data, found, n);
      }
      if (made) {
        std::free(const_cast<void*>(found));
      }
    } else {
      // The getter writes where the descriptor points, if its shape fits.
      void* const before = dst->base;
      (void)call_getter(f, dst, dst_length, &made);
      if (made && !may_realloc_dst && before != nullptr && dst->base != before) {
        std::memcpy(before, dst->base, bytes_of(*dst));
        std::free(dst->base);
        dst->base = before;
      }
      if (dst_data != nullptr) {
        *dst_data = dst->base;
      }
    }
    out.good();
  });
}

void _gfortran_caf_send_to_remote(void* token, descriptor* dst, const std::size_t* dst_length,
                                  int image, std::size_t, const void* src_data,
                                  const std::size_t* src_length, const descriptor* src, int which,
                                  void* add_data, std::size_t, int* stat, void** team,
                                  int* team_number) {
  const outcome out{stat};
  constexpr const char* statement = "assignment to another image";
  const int rank = rank_in(image, team, team_number, out, statement);
  if (rank < 0) {
    return;
  }
  guarded(out, statement, [&] {
    const traced here(sinew::trace::kind::put, "put", image);
    target there(token, dst, rank);
    const int me = caller();
    sinew::coarray::token pseudo;
    std::size_t length = dst_length != nullptr ? *dst_length : 0;
    const void* source = src != nullptr ? static_cast<const void*>(src) : src_data;
    const access_scope scope(rank + 1);
    reinterpret_cast<receiver>(function(which))(add_data, &me, there.get(), source, &pseudo, 0,
                                                dst_length != nullptr ? &length : nullptr,
                                                src_length);
    out.good();
  });
}

void _gfortran_caf_transfer_between_remotes(
    void* dst_token, descriptor* dst, std::size_t* dst_length, int dst_image, int dst_which,
    void* dst_add_data, std::size_t, void* src_token, const descriptor* src,
    const std::size_t* src_length, int src_image, int src_which, void* src_add_data, std::size_t,
    std::size_t src_size, bool scalar_transfer, int* dst_stat, int* src_stat, void** dst_team,
    int* dst_team_number, void** src_team, int* src_team_number) {
  constexpr const char* statement = "assignment from image to image";
  const outcome out{dst_stat};
  const outcome in{src_stat};
  const int from = rank_in(src_image, src_team, src_team_number, in, statement);
  const int to = from < 0 ? -1 : rank_in(dst_image, dst_team, dst_team_number, out, statement);
  if (to < 0) {
    return;
  }
  guarded(out, statement, [&] {
    bool made = false;
    const fetch f{src_token, src, src_length, from, src_which, src_add_data};
    descriptor array{};
    array.element.rank = src != nullptr ? static_cast<std::int8_t>(src->rank()) : std::int8_t{0};
    std::size_t found_length = src_length != nullptr ? *src_length : src_size;
    void* found = call_getter(f, scalar_transfer ? nullptr : &array, &found_length, &made);
    target there(dst_token, dst, to);
    const int me = caller();
    sinew::coarray::token pseudo;
    const access_scope scope(to + 1);
    reinterpret_cast<receiver>(function(dst_which))(
        dst_add_data, &me, there.get(), scalar_transfer ? found : static_cast<void*>(&array),
        &pseudo, 0, dst_length, &found_length);
    if (made) {
      std::free(found);
    }
    in.good();
    out.good();
  });
}

std::int32_t _gfortran_caf_is_present_on_remote(void* token, int image, int which, void* add_data,
                                                std::size_t) {
  const int rank = rank_of(*the.now, image, {}, "allocated");
  std::int32_t present = 0;
  guarded({}, "allocated", [&] {
    target there(token, nullptr, rank);
    const int me = caller();
    sinew::coarray::token pseudo;
    const access_scope scope(rank + 1);
    present = reinterpret_cast<presence>(function(which))(add_data, &me, there.get(), &pseudo, 0);
  });
  return present;
}

}  // extern "C"
#pragma GCC visibility pop
