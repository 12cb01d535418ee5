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
  virtual void on_release(memory_kind kind, std::uint64_t address) = 0;
  virtual void on_destroy(instance i, std::uint64_t post) = 0;
  virtual void on_perform(transfer& t) = 0;
  virtual void on_delivery(const delivery& d, const std::byte* elements, bool last) = 0;
  /// `entries` null: they lie in the sender's heap.
  virtual void on_contributions(job_rank sender, const log_place& l, const std::byte* entries) = 0;

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
  void release(job_rank owner, memory_kind kind, std::uint64_t address);
  void destroy(job_rank creator, instance i, std::uint64_t post);
  void perform(job_rank executor, const transfer& t);
  /// `packet` begins with sizeof(delivery) bytes that this call fills; the elements are behind.
  void deliver(job_rank owner, const delivery& d, std::span<std::byte> packet, bool last);
  /// The owner reads the entries in this rank's heap.
  void replay(job_rank owner, const log_place& l);
  /// The entries go with the message, largest_batch() bytes at most. Hot.
  void batch(job_rank owner, const log_place& l, std::span<const std::byte> entries);

  [[nodiscard]] std::size_t largest_batch() const noexcept;
  /// Bytes of elements.
  [[nodiscard]] std::size_t largest_delivery() const noexcept;

 private:
  sinew::event::system& events_;
};

}  // namespace sinew::region
