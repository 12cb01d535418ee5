#include "sinew/event/system.hpp"

#include "sinew/base/check.hpp"
#include "sinew/event/barrier.hpp"
#include "sinew/event/completion_queue.hpp"
#include "sinew/event/coroutine.hpp"

namespace sinew::event {

struct system::body {};
system::system(core::runtime& runtime, const options&)
    : runtime_(runtime), rank_(runtime.rank()), size_(runtime.size()) {}
system::~system() = default;
user_event system::create() { return {}; }
void system::trigger(user_event, event) {}
void system::poison(user_event) {}
bool system::cancel(event) { return false; }
event system::merge(std::span<const event>) { return {}; }
event system::settled(std::span<const event>) { return {}; }
state system::look(event) { return state::triggered; }
state system::wait(event) { return state::triggered; }
state system::subscribe(event, waiter&) { return state::triggered; }
bool system::unsubscribe(event, waiter&) { return false; }
void system::on(event, void (*)(void*, bool) noexcept, void*) {}
void system::set_handler(topic, message_handler, void*) {}
void system::send(int, topic, std::uint64_t, std::uint64_t, const void*, std::size_t) {}
std::size_t system::largest_message() const noexcept { return 0; }
void system::lost(int) {}
bool system::is_lost(int) const noexcept { return false; }
void system::name(event, std::string_view) {}
std::string system::report() { return {}; }
void system::add_report(std::string (*)(void*), void*) {}
std::size_t system::pending() const noexcept { return 0; }
std::size_t system::slots() const noexcept { return 0; }

struct barriers::body {};
barriers::barriers(system&) {}
barriers::~barriers() = default;
barrier barriers::create(std::uint64_t, const reduction&) { return {}; }
void barriers::destroy(barrier) {}
void barriers::arrive(barrier, std::uint64_t, const void*, event) {}
barrier barriers::alter(barrier b, std::int64_t) { return b; }
event barriers::completed(barrier) { return {}; }
bool barriers::value(barrier, void*) { return false; }

struct completion_queue::body {};
completion_queue::completion_queue(system&) {}
completion_queue::~completion_queue() = default;
void completion_queue::add(event, std::uint64_t) {}
std::size_t completion_queue::pop(std::span<completed>) { return 0; }
event completion_queue::filled() { return {}; }
std::size_t completion_queue::size() const noexcept { return 0; }

}  // namespace sinew::event
