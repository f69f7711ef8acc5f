// Functions that measure their own duration, and a child that calls them. The excess of the
// duration that probes measure is the cost of the probes.
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

// A function and the addresses of its probes in this process. Its first instruction is one that the
// kernel emulates (push) or one that it steps over. It ends with ret, which the kernel steps over.
struct SpinFunction {
  std::uint64_t (*function)(std::uint64_t ticks) =
      nullptr;           // returns the ticks that it spun, at least `ticks`
  bool returned = false; // has a return probe at its entry instead of a breakpoint at its exit
  std::uint64_t entry = 0;
  std::uint64_t exit = 0; // address in the exit's hit: of `ret`, or of the entry for a return probe
};

// In this order: an entry that the kernel emulates, one that it steps over, and an emulated one
// with a return probe.
constexpr std::size_t spin_function_count = 3;
[[nodiscard]] std::array<SpinFunction, spin_function_count> spin_functions();

// Returns the offset of a code address in the file of this program.
[[nodiscard]] std::optional<std::uint64_t> own_file_offset(std::uint64_t address);

// The functions are called in turns. During a turn the cost of a hit is constant.
constexpr std::size_t spin_turns = 30;
constexpr std::size_t spin_calls_a_turn = 20;
// So many calls of a turn follow one another and are short. Each of the others is long and follows
// a pause: the caches then contain other data, and the hits take longer.
constexpr std::size_t spin_quick_calls = 12;
constexpr std::size_t spin_calls = spin_turns * spin_calls_a_turn; // of each function

// The durations that the child measures, in shared memory.
struct Spent {
  double ticks_a_ns = 0;
  std::array<std::array<std::uint64_t, spin_calls>, spin_function_count> ticks = {};
};

// A child that waits for go(), calls the functions, and exits. It is killed with this object.
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
  [[nodiscard]] bool ended();

  // Valid after the child has ended.
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
