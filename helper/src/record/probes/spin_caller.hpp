// Functions of our own that know how long they take, and a child of ours that calls them: what
// probes on them show beyond that is the probes' cost.
#pragma once

#include "base/error.hpp"
#include "record/processes/descriptor.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <sys/types.h>

namespace ptlens::record {

// Addresses in this process. Each is entered by an instruction whose work the kernel does itself
// (push) or by one that it steps over; all leave by ret, which it steps over.
struct SpinFunction {
  std::uint64_t (*function)(std::uint64_t ticks) = nullptr; // how many it spun for, at least those
  bool emulated = false;
  bool timed = false; // to be probed twice: at `entry` and at `after_entry`, and at `exit`
  std::uint64_t entry = 0;
  std::uint64_t after_entry = 0; // at `entry` where that is emulated, else at the next instruction
  std::uint64_t exit = 0;
};

constexpr std::size_t spin_function_count = 4; // emulated and not, timed and not
[[nodiscard]] std::array<SpinFunction, spin_function_count> spin_functions();

// Where in our own program file an address of its code lies.
[[nodiscard]] std::optional<std::uint64_t> own_file_offset(std::uint64_t address);

// By turns, some calls of each function at a time: a turn's calls all cost what a hit costs at that
// time.
constexpr std::size_t spin_turns = 40;
constexpr std::size_t spin_calls_a_turn = 25;
constexpr std::size_t spin_calls = spin_turns * spin_calls_a_turn; // of each function

// What the child tells of its calls, in memory that it shares.
struct Spent {
  double ticks_a_ns = 0;
  std::array<std::array<std::uint64_t, spin_calls>, spin_function_count> ticks = {};
};

// A child that waits for a byte, calls the functions, and ends. It is killed with this object.
class SpinCaller {
public:
  static Result<SpinCaller> start();

  SpinCaller(SpinCaller&& other) noexcept;
  SpinCaller& operator=(SpinCaller&&) = delete;
  SpinCaller(const SpinCaller&) = delete;
  SpinCaller& operator=(const SpinCaller&) = delete;
  ~SpinCaller();

  [[nodiscard]] std::int32_t pid() const { return pid_; }
  void go() const;

  // Once it has ended.
  [[nodiscard]] const Spent& spent() const { return *spent_; }

private:
  struct Unmap {
    void operator()(Spent* spent) const;
  };

  SpinCaller() = default;

  pid_t pid_ = -1;
  Descriptor go_;
  std::unique_ptr<Spent, Unmap> spent_;
};

} // namespace ptlens::record
