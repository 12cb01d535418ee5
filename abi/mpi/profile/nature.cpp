// SPDX-License-Identifier: BSD-3-Clause
// What the calls of MPI are for, by their names.
#include <cctype>
#include <string>
#include <string_view>

#include "abi/mpi/profile/table.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi::profile {
namespace {

constexpr std::string_view messages =
    " send bsend ssend rsend recv mrecv sendrecv sendrecv_replace probe mprobe send_init "
    "bsend_init "
    "ssend_init rsend_init recv_init psend_init precv_init pready pready_list pready_range "
    "parrived "
    "start startall ";
constexpr std::string_view waits =
    " wait waitall waitany waitsome test testall testany testsome request_get_status "
    "request_get_status_all request_get_status_any request_get_status_some ";
constexpr std::string_view collectives =
    " barrier bcast reduce allreduce scan exscan reduce_scatter_block reduce_scatter gather "
    "gatherv "
    "scatter scatterv allgather allgatherv alltoall alltoallv alltoallw neighbor_allgather "
    "neighbor_allgatherv neighbor_alltoall neighbor_alltoallv neighbor_alltoallw ";
constexpr std::string_view accesses =
    " put get accumulate get_accumulate fetch_and_op compare_and_swap rput rget raccumulate "
    "rget_accumulate ";

bool is_among(std::string_view words, const std::string& word) {
  return words.find(" " + word + " ") != std::string_view::npos;
}

bool is_immediate(std::string_view call) { return call.substr(0, 5) == "MPI_I" && call[5] != 'n'; }

/// "MPI_Isend_c" is "send", as are all forms of it; but the persistent one.
std::string word_of(std::string_view call) {
  if (call.ends_with("_c")) {
    call.remove_suffix(2);
  }
  std::string word(call.substr(is_immediate(call) ? 5 : 4));
  if (!word.empty()) {
    word[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(word[0])));
  }
  return word;
}

call_nature message_call(const std::string& word, bool immediate) {
  // What a persistent or a partitioned one moves, and when, its arguments do not say.
  const bool moves =
      !word.ends_with("_init") && !word.starts_with("p") && !word.starts_with("start");
  const bool probes = word.ends_with("probe");
  const bool takes = is_among(" recv mrecv sendrecv sendrecv_replace ", word) && !immediate;
  return {.of = group::message,
          .sends = moves && !probes ? flow::always : flow::none,
          .receives = takes ? flow::always : flow::none,
          .peer = is_among(" recv probe ", word)     ? named::source
                  : word == "mprobe"                 ? named::source
                  : moves && !word.ends_with("recv") ? named::target
                  : word == "sendrecv"               ? named::target
                                                     : named::nobody,
          .waits = takes || (probes && !immediate)};
}

call_nature collective_call(const std::string& form, bool immediate, bool persistent) {
  const meeting usual = form.starts_with("neighbor")                 ? meeting::none
                        : is_among(" bcast scatter scatterv ", form) ? meeting::all_for_root
                        : is_among(" reduce gather gatherv ", form)  ? meeting::root_for_all
                        : is_among(" scan exscan ", form)            ? meeting::all_for_lower
                                                                     : meeting::all;
  call_nature it{.of = group::collective, .meets = immediate || persistent ? meeting::none : usual};
  if (form == "bcast") {
    it.sends = flow::as_root;
    it.receives = flow::as_other;
  } else if (form == "reduce") {
    it.receives = flow::as_root;
  }
  if (persistent) {
    it.sends = it.receives = flow::none;
  }
  return it;
}

}  // namespace

call_nature nature_of(std::string_view call) {
  SINEW_EXPECT(call.starts_with("MPI_"));
  const std::string word = word_of(call);
  if (is_among(messages, word)) {
    return message_call(word, is_immediate(call));
  }
  if (is_among(waits, word)) {
    return {.of = group::wait,
            .sends = flow::none,
            .receives = flow::none,
            .waits = word.starts_with("wait")};
  }
  const bool persistent = word.ends_with("_init");
  const std::string form = persistent ? word.substr(0, word.size() - 5) : word;
  if (is_among(collectives, form)) {
    return collective_call(form, is_immediate(call), persistent);
  }
  if (is_among(accesses, word)) {
    return {.of = group::one_sided, .peer = named::target};
  }
  if (word.starts_with("win_")) {
    return {.of = group::one_sided,
            .sends = flow::none,
            .receives = flow::none,
            .meets = word == "win_fence" ? meeting::all : meeting::none};
  }
  return {.of = word.starts_with("file_") ? group::file : group::other};
}

}  // namespace sinew::mpi::profile
