// SPDX-License-Identifier: BSD-3-Clause
// The module's messages: what may be asked of another rank, and what is done when it arrives.
//
// Downwards a call of `courier` becomes one message. Upwards a message becomes one call of the
// receiving rank's `inbox`; which one, read() decides without a network, so tests hand it messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "region/messages.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/event/system.hpp"

namespace sinew::region {

/// What other ranks ask of this one. Called in handlers of messages: must not wait or poll. Data is
/// valid until the call returns.
class inbox {
 public:
  virtual void on_allocate(job_rank creator, const allocation& a) = 0;
  virtual void on_allocated(instance i) = 0;
  virtual void on_allocated_far(job_rank owner, const allocated_part& a) = 0;
  virtual void on_release(const part_name& p, std::uint64_t address) = 0;
  /// It will be released once an event has triggered; it will not after all.
  virtual void on_promise(const part_name& p) = 0;
  virtual void on_keep(const part_name& p) = 0;
  /// What waits for memory need not any more.
  virtual void on_withdraw(const part_name& p) = 0;
  virtual void on_destroy(instance i, std::uint64_t post, sinew::event::event after) = 0;
  virtual void on_perform(transfer& t) = 0;
  virtual void on_parcel(job_rank sender, const parcel& p, const std::byte* runs) = 0;
  virtual void on_fetch(job_rank sender, const fetch_piece& f) = 0;
  virtual void on_answer(job_rank owner, std::uint64_t stream, bool good) = 0;
  virtual void on_ask(job_rank who, instance i) = 0;
  virtual void on_record(const record_piece& p, const std::byte* bytes, std::size_t size) = 0;
  virtual void on_forget(instance i) = 0;
  /// `entries` null: they lie in the sender's heap; else so many bytes.
  virtual void on_contributions(job_rank sender, const log_place& l, const std::byte* entries,
                                std::size_t size) = 0;

 protected:
  ~inbox() = default;
};

/// Calls the function of `to` that this message is for.
void read(sinew::event::topic topic, const sinew::event::message& m, inbox& to);

/// Any thread, if the runtime is threaded. No call waits.
class courier {
 public:
  explicit courier(sinew::event::system& events) noexcept : events_(events) {}
  courier(const courier&) = delete;
  courier& operator=(const courier&) = delete;

  /// From here on `to` is called for what arrives. What arrives earlier ends the job.
  void open(inbox& to);
  void close();  ///< what arrives later is ignored

  void allocate(job_rank owner, const allocation& a);
  void allocated(job_rank creator, instance i);
  /// The creator is on another node.
  void allocated(job_rank creator, const allocated_part& a);
  void release(job_rank owner, const part_name& p, std::uint64_t address);
  void promise(job_rank owner, const part_name& p);
  void keep(job_rank owner, const part_name& p);
  void withdraw(job_rank owner, const part_name& p);
  void destroy(job_rank creator, instance i, std::uint64_t post, sinew::event::event after);
  void perform(job_rank executor, const transfer& t);
  /// `packet` begins with sizeof(parcel) bytes that this call fills; the runs are behind.
  void deliver(job_rank owner, const parcel& p, std::span<std::byte> packet);
  /// The memory stays as it is, and exposed, until the answer.
  void fetch(job_rank owner, const fetch_piece& f);
  void answer(job_rank sender, std::uint64_t stream, bool good);
  /// For the record of an instance of another node.
  void ask(job_rank creator, instance i);
  /// In as many messages as it takes; empty: there is none.
  void tell(job_rank who, instance i, std::span<const std::byte> record);
  void forget(job_rank who, instance i);
  /// The owner reads the entries in this rank's heap.
  void replay(job_rank owner, const log_place& l);
  /// The entries go with the message, largest_batch() bytes at most. Hot.
  void batch(job_rank owner, const log_place& l, std::span<const std::byte> entries);

  [[nodiscard]] std::size_t largest_batch() const noexcept;
  /// Bytes, with the parcel's head.
  [[nodiscard]] std::size_t largest_parcel() const noexcept;

 private:
  sinew::event::system& events_;
};

}  // namespace sinew::region
