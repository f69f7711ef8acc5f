// Why a thread was off its CPU.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ptlens::waits {

enum class Reason : std::uint8_t {
  lock,
  sleep,
  disk,
  network,
  pipe,
  poll,
  page_fault,
  process,
  signal,
  preempted,
  unknown,
};
inline constexpr std::size_t reasons = 11;

// Returns the word of the command line and of JSON, for example "page_fault".
[[nodiscard]] std::string_view word(Reason reason);
// Returns the reason with that word.
[[nodiscard]] std::optional<Reason> reason_of_word(std::string_view word);

// Returns the reason by the functions of the kernel's stack, innermost first.
[[nodiscard]] Reason reason_of_kernel(std::span<const std::string_view> stack);

// Returns the reason that a call of this function of a user's program usually has to wait; unknown
// where there is no usual one, as for read().
[[nodiscard]] Reason usual_reason(std::string_view function);

// What a thread waits for when it waits for a lock.
enum class LockKind : std::uint8_t {
  none,
  mutex,
  condition,
  rwlock,
  semaphore,
  barrier,
  thread_end,
  once,
};
// Returns the word of JSON, for example "mutex"; empty for none.
[[nodiscard]] std::string_view word(LockKind kind);
[[nodiscard]] LockKind lock_kind(std::string_view function);

// Returns true for functions of the kernel that only switch to another thread.
[[nodiscard]] bool is_switching(std::string_view kernel_function);

// The device whose interrupt ended a wait.
enum class Interrupt : std::uint8_t { other, timer, disk, network };
[[nodiscard]] std::string_view word(Interrupt interrupt);
[[nodiscard]] Interrupt interrupt_of_kernel(std::span<const std::string_view> stack);

// Returns whether a software interrupt's stack shows that the system call of the current thread
// sends over the loopback device and delivers the packet itself.
[[nodiscard]] bool is_sent_over_loopback(std::span<const std::string_view> stack);

} // namespace ptlens::waits
