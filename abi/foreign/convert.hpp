// SPDX-License-Identifier: BSD-3-Clause
// What a program of another library's ABI passes, as the standard's ABI wants it, and back. An
// object for each argument lives as long as the call. A result that the call does not set stays as
// the program had it.
//
// This is compiled once for each library, whose header says what handles, statuses and addresses
// are there. All functions here: any thread, where MPI may be called; they do not suspend. Hot but
// for arrays and texts.
#pragma once

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "abi/scratch.hpp"
#include SINEW_FOREIGN_ABI

#define SINEW_TWIN(name) [[gnu::weak, gnu::alias("P" #name), gnu::visibility("default")]]

namespace sinew::foreign {

/// What no call sets a result to.
inline constexpr int untouched = INT_MIN + 11;

// --- numbers -------------------------------------------------------------------------------------

template <const auto& Pairs>
[[nodiscard]] constexpr bool all_negative() noexcept {
  for (const number_pair& p : Pairs) {
    if (p.foreign >= 0 || p.standard >= 0) {
      return false;
    }
  }
  return true;
}

/// A value that means nothing in the one ABI must not mean something in the other.
inline constexpr int meaningless = INT_MIN + 12;

/// Of a rank or a tag only negative ones have another meaning.
template <const auto& Pairs, class Int>
[[nodiscard]] constexpr Int number_from(Int value) noexcept {
  if constexpr (all_negative<Pairs>()) {
    if (value >= 0) [[likely]] {
      return value;
    }
  }
  bool is_taken = false;
  for (const number_pair& p : Pairs) {
    if (static_cast<int>(value) == p.foreign) {
      return static_cast<Int>(p.standard);
    }
    is_taken = is_taken || static_cast<int>(value) == p.standard;
  }
  if constexpr (std::is_enum_v<Int>) {
    return value;  // it has no others
  } else {
    return is_taken ? meaningless : value;
  }
}

template <const auto& Pairs, class Int>
[[nodiscard]] constexpr Int number_to(Int value) noexcept {
  for (const number_pair& p : Pairs) {
    if (static_cast<int>(value) == p.standard) {
      return static_cast<Int>(p.foreign);
    }
  }
  return value;
}

template <const auto& Pairs>
[[nodiscard]] constexpr int bits_from(int value) noexcept {
  int bits = 0;
  for (const number_pair& p : Pairs) {
    if ((value & p.foreign) != 0) {
      bits |= p.standard;
      value &= ~p.foreign;
    }
  }
  return value == 0 ? bits : bits | 1 << 30;  // which no mode has
}

template <const auto& Pairs>
[[nodiscard]] constexpr int bits_to(int value) noexcept {
  int bits = 0;
  for (const number_pair& p : Pairs) {
    bits |= (value & p.standard) != 0 ? p.foreign : 0;
  }
  return bits;
}

/// Error codes: the classes of the ABI, and from its last one on what the program has added.
[[nodiscard]] constexpr int code_from(int code) noexcept {
  return code >= err_lastcode ? static_cast<int>(code - err_lastcode) + MPI_ERR_LASTCODE
                              : number_from<error_classes>(code);
}
[[nodiscard]] constexpr int other_code_to(int code) noexcept {
  return code >= MPI_ERR_LASTCODE ? static_cast<int>(code - MPI_ERR_LASTCODE + err_lastcode)
                                  : number_to<error_classes>(code);
}
[[nodiscard]] inline int code_to(int code) noexcept {
  return code == MPI_SUCCESS ? code : other_code_to(code);
}

/// A result by a pointer, which may be null: `To` makes it the ABI's.
template <class Int, auto To>
class result {
 public:
  explicit result(Int* to) noexcept : to_(to) {}
  result(Int* to, Int before) noexcept : to_(to), value_(before), before_(before) {}
  result(const result&) = delete;
  result& operator=(const result&) = delete;
  ~result() {
    if (value_ != before_) {
      *to_ = To(value_);
    }
  }
  [[nodiscard]] Int* at() noexcept { return to_ == nullptr ? nullptr : &value_; }

 private:
  static constexpr Int unset() noexcept {
    if constexpr (std::is_enum_v<Int>) {
      return Int{};  // which no constant of such a type is that a call returns
    } else {
      return untouched;
    }
  }
  Int* to_;
  Int value_ = unset();
  const Int before_ = unset();
};

template <const auto& Pairs, class Int = int>
struct number_out : result<Int, number_to<Pairs, Int>> {
  using result<Int, number_to<Pairs, Int>>::result;
};
template <const auto& Pairs, class Int = int>
struct number_inout : number_out<Pairs, Int> {
  explicit number_inout(Int* at)
      : number_out<Pairs, Int>(at, at == nullptr ? Int{} : number_from<Pairs>(*at)) {}
};
template <const auto& Pairs>
struct bits_out : result<int, bits_to<Pairs>> {
  using result<int, bits_to<Pairs>>::result;
};
struct code_out : result<int, code_to> {
  using result::result;
};

/// A length that is cut as its text is (text_out).
class length_out {
 public:
  length_out(int* to, long limit) noexcept : to_(to), limit_(static_cast<int>(limit)) {}
  length_out(const length_out&) = delete;
  length_out& operator=(const length_out&) = delete;
  ~length_out() {
    if (value_ != untouched) {
      *to_ = std::min(value_, limit_ - 1);
    }
  }
  [[nodiscard]] int* at() noexcept { return to_ == nullptr ? nullptr : &value_; }

 private:
  int* to_;
  int limit_;
  int value_ = untouched;
};

/// Where a view begins: a number or the file pointer's place.
[[nodiscard]] constexpr MPI_Offset view_offset(MPI_Offset offset) noexcept {
  return offset == displacement_current       ? MPI_DISPLACEMENT_CURRENT
         : offset == MPI_DISPLACEMENT_CURRENT ? meaningless
                                              : offset;
}

// --- arrays --------------------------------------------------------------------------------------

/// Entries for a call; null stays null.
template <class T>
class entries : public scratch<T> {
 public:
  entries(const void* of, long count)
      : scratch<T>(of == nullptr ? 0 : count), is_null_(of == nullptr) {}
  [[nodiscard]] T* data() noexcept { return is_null_ ? nullptr : scratch<T>::data(); }

 private:
  bool is_null_;
};

template <const auto& Pairs>
struct numbers_in : entries<int> {
  numbers_in(const int* from, long count) : entries(from, count) {
    for (std::size_t i = 0; i < size(); ++i) {
      (*this)[i] = number_from<Pairs>(from[i]);
    }
  }
};

template <class Int, auto To>
class results : public entries<Int> {
 public:
  results(Int* to, long count) : entries<Int>(to, count), to_(to) {
    for (std::size_t i = 0; i < this->size(); ++i) {
      (*this)[i] = untouched;
    }
  }
  results(const results&) = delete;
  results& operator=(const results&) = delete;
  ~results() {
    for (std::size_t i = 0; i < this->size(); ++i) {
      if ((*this)[i] != untouched) {
        to_[i] = To((*this)[i]);
      }
    }
  }

 private:
  Int* to_;
};
template <const auto& Pairs>
struct numbers_out : results<int, number_to<Pairs, int>> {
  using results<int, number_to<Pairs, int>>::results;
};
/// Codes that a call has set in place.
inline void codes_to(int* codes, long count) noexcept {
  for (long i = 0; codes != nullptr && i < count; ++i) {
    codes[i] = code_to(codes[i]);
  }
}

// --- handles -------------------------------------------------------------------------------------

template <class Standard>
using foreign_of = decltype(to_foreign(Standard()));

template <class Standard>
class handle_out {
 public:
  explicit handle_out(foreign_of<Standard>* to) noexcept : to_(to) {}
  handle_out(const handle_out&) = delete;
  handle_out& operator=(const handle_out&) = delete;
  ~handle_out() {
    if (value_ != before()) [[likely]] {
      *to_ = to_foreign(value_);
    }
  }
  [[nodiscard]] Standard* at() noexcept { return to_ == nullptr ? nullptr : &value_; }

 private:
  /// No object's address.
  static Standard before() noexcept { return reinterpret_cast<Standard>(std::uintptr_t{1}); }
  foreign_of<Standard>* to_;
  Standard value_ = before();
};

template <class Standard>
class handle_inout {
 public:
  explicit handle_inout(foreign_of<Standard>* at)
      : at_(at), before_(at == nullptr ? Standard() : from_foreign<Standard>(*at)) {
    value_ = before_;
  }
  handle_inout(const handle_inout&) = delete;
  handle_inout& operator=(const handle_inout&) = delete;
  ~handle_inout() {
    if (value_ != before_) {
      *at_ = to_foreign(value_);
    }
  }
  [[nodiscard]] Standard* at() noexcept { return at_ == nullptr ? nullptr : &value_; }

 private:
  foreign_of<Standard>* at_;
  Standard before_;
  Standard value_;
};

template <class Standard>
struct handles_in : entries<Standard> {
  handles_in(const foreign_of<Standard>* from, long count) : entries<Standard>(from, count) {
    for (std::size_t i = 0; i < this->size(); ++i) {
      (*this)[i] = from_foreign<Standard>(from[i]);
    }
  }
};

template <class Standard>
class handles_inout : public handles_in<Standard> {
 public:
  handles_inout(foreign_of<Standard>* at, long count)
      : handles_in<Standard>(at, count), before_(at, count), at_(at) {
    std::copy_n(this->data(), this->size(), before_.data());
  }
  handles_inout(const handles_inout&) = delete;
  handles_inout& operator=(const handles_inout&) = delete;
  ~handles_inout() {
    for (std::size_t i = 0; i < this->size(); ++i) {
      if ((*this)[i] != before_[i]) {
        at_[i] = to_foreign((*this)[i]);
      }
    }
  }

 private:
  entries<Standard> before_;
  foreign_of<Standard>* at_;
};

/// How many ranks a collective with an array of datatypes sends to, or receives from.
[[nodiscard]] int out_peers(comm c, bool of_neighbours);
[[nodiscard]] int in_peers(comm c, bool of_neighbours);
/// None where the data are in place already: the array is not looked at.
[[nodiscard]] inline int peers_given(comm c, const void* data, bool of_neighbours) {
  return address_from(data) == MPI_IN_PLACE ? 0 : out_peers(c, of_neighbours);
}

// --- statuses ------------------------------------------------------------------------------------

inline void clear(MPI_Status& s) noexcept {
  s.MPI_SOURCE = untouched;
  s.MPI_ERROR = untouched;
}
/// What a call has set of a status that was clear.
inline void store(const MPI_Status& from, status& to) noexcept {
  if (from.MPI_SOURCE != untouched) [[likely]] {
    to.source = number_to<ranks>(from.MPI_SOURCE);
    to.tag = number_to<tags>(from.MPI_TAG);
    size_to(from, to);
  }
  if (from.MPI_ERROR != untouched) {
    to.error = code_to(from.MPI_ERROR);
  }
}
inline void load(const status& from, MPI_Status& to) noexcept {
  to.MPI_SOURCE = number_from<ranks>(from.source);
  to.MPI_TAG = number_from<tags>(from.tag);
  to.MPI_ERROR = code_from(from.error);
  size_from(from, to);
}

class status_out {
 public:
  explicit status_out(status* to) noexcept : to_(is_ignored(to) ? nullptr : to) { clear(value_); }
  status_out(const status_out&) = delete;
  status_out& operator=(const status_out&) = delete;
  ~status_out() {
    if (to_ != nullptr) {
      store(value_, *to_);
    }
  }
  [[nodiscard]] MPI_Status* at() noexcept { return to_ == nullptr ? MPI_STATUS_IGNORE : &value_; }

 private:
  status* to_;
  MPI_Status value_;
};

class status_in {
 public:
  explicit status_in(const status* from) noexcept : is_there_(!is_ignored(from)) {
    if (is_there_) {
      load(*from, value_);
    }
  }
  [[nodiscard]] MPI_Status* at() noexcept { return is_there_ ? &value_ : MPI_STATUS_IGNORE; }

 private:
  bool is_there_;
  MPI_Status value_;
};

class status_inout : public status_in {
 public:
  explicit status_inout(status* at) noexcept : status_in(at), at_(at) {}
  status_inout(const status_inout&) = delete;
  status_inout& operator=(const status_inout&) = delete;
  ~status_inout() {
    if (const MPI_Status* const now = at(); now != MPI_STATUS_IGNORE) {
      store(*now, *at_);
    }
  }

 private:
  status* at_;
};

class statuses_out {
 public:
  statuses_out(status* to, long count) : values_(is_ignored(to) ? nullptr : to, count), to_(to) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      clear(values_[i]);
    }
  }
  statuses_out(const statuses_out&) = delete;
  statuses_out& operator=(const statuses_out&) = delete;
  ~statuses_out() {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      store(values_[i], to_[i]);
    }
  }
  [[nodiscard]] MPI_Status* data() noexcept { return values_.data(); }

 private:
  entries<MPI_Status> values_;
  status* to_;
};

// --- addresses and texts -------------------------------------------------------------------------

/// A buffer's address that a call gives back.
class address_out {
 public:
  explicit address_out(void* to) noexcept : to_(static_cast<void**>(to)) {}
  address_out(const address_out&) = delete;
  address_out& operator=(const address_out&) = delete;
  ~address_out() {
    if (value_ != &value_) {
      *to_ = address_to(value_);
    }
  }
  [[nodiscard]] void* at() noexcept { return to_ == nullptr ? nullptr : &value_; }

 private:
  void** to_;
  void* value_ = &value_;
};

/// A text is cut to what the ABI's programs have room for.
template <long Limit, long StandardLimit>
class text_out {
 public:
  explicit text_out(char* to) noexcept : to_(to) { text_[0] = mark; }
  text_out(const text_out&) = delete;
  text_out& operator=(const text_out&) = delete;
  ~text_out() {
    if (to_ != nullptr && text_[0] != mark) {
      text_[Limit - 1] = '\0';
      std::memcpy(to_, text_, std::strlen(text_) + 1);
    }
  }
  [[nodiscard]] char* data() noexcept { return to_ == nullptr ? nullptr : text_; }

 private:
  static constexpr char mark = '\1';  // no text begins with it
  char* to_;
  char text_[std::max(Limit, StandardLimit) + 1];
};

}  // namespace sinew::foreign
