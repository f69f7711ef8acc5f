// A made-up kernel: a few functions in memory, with an entry for system calls and one for
// interrupts, and the walk through them from entry to return. Its files are those of perf record
// --kcore: a core file with the code, and kallsyms. It also has a build-id in a note.
#pragma once

#include "base/error.hpp"
#include "synth/call_stack.hpp"
#include "synth/random.hpp"
#include "trace/trace_unit.hpp"
#include "truth/branch_log.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::ptsim::synth {

struct Seat;

class Kernel {
public:
  // Functions are numbered from `first_function` on.
  explicit Kernel(FunctionId first_function);

  static constexpr std::uint64_t base = 0xffffffff81000000;
  static constexpr std::array<std::uint8_t, 20> build_id = {
      0x50, 0x74, 0x53, 0x69, 0x6d, 0x20, 0x6d, 0x61, 0x64, 0x65,
      0x2d, 0x75, 0x70, 0x20, 0x6b, 0x65, 0x72, 0x6e, 0x65, 0x6c};
  [[nodiscard]] std::uint64_t size() const { return code_.size(); }
  [[nodiscard]] FunctionId first_function() const { return first_function_; }

  struct Function {
    std::string_view name;
    std::uint64_t entry = 0;
  };
  [[nodiscard]] const std::vector<Function>& functions() const { return functions_; }

  // Writes `folder`/kcore, /kallsyms and an empty /modules.
  Result<void> write(const std::string& folder) const;

  // User code at `from` enters the kernel, which returns to `back`. `log` can be null.
  struct Walk {
    const Seat* seat = nullptr;
    CallStack* stack = nullptr;
    BranchLog* log = nullptr;
    Random* random = nullptr;
  };
  void system_call(const Walk& walk, std::uint64_t from, std::uint64_t back) const;
  void interrupt(const Walk& walk, std::uint64_t ip) const;

private:
  enum class Step : std::uint8_t { work, call, call_any, skip, ret, leave };
  struct Placed {
    Step step = Step::work;
    std::uint64_t begin = 0;
    std::uint64_t behind = 0;
    std::size_t target = 0; // function that is called; of call_any, the first of three
  };
  struct Plan;

  [[nodiscard]] const std::vector<Plan>& plans() const;
  void assemble();
  void enter(const Walk& walk, std::size_t function, std::uint64_t caller,
             std::uint64_t back) const;
  void run(const Walk& walk, std::size_t function, std::uint64_t back) const;

  FunctionId first_function_;
  std::vector<std::uint8_t> code_;
  std::vector<Function> functions_;
  std::vector<std::vector<Placed>> steps_; // by function
};

} // namespace ptlens::ptsim::synth
