// The walk of one thread over the graph. Decides each branch, and reports it to the trace unit and
// the call stack. The bottom of the stack is a loop that never ends.
#pragma once

#include "synth/behaviour.hpp"
#include "synth/call_stack.hpp"
#include "synth/kernel.hpp"
#include "synth/process.hpp"
#include "synth/random.hpp"
#include "synth/seat.hpp"
#include "trace/clock.hpp"
#include "trace/packet_writer.hpp"
#include "trace/trace_unit.hpp"
#include "truth/branch_log.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace ptlens::ptsim::synth {

struct AddressFilter { // process addresses of code that is traced
  std::uint64_t begin = 0;
  std::uint64_t end = ~std::uint64_t{0};

  [[nodiscard]] bool holds(std::uint64_t address) const {
    return address >= begin && address < end;
  }
};

struct WalkerConfig {
  double unwind = 0; // probability of an exception where a function could return
  std::optional<AddressFilter> filter;
  const Kernel* kernel = nullptr; // that is traced too
};

class Walker {
public:
  enum class Stop : std::uint8_t { time, bytes, system_call };

  // References are not owned. `log` may be null.
  Walker(const Process& process, const Behaviour& behaviour, const WalkerConfig& config,
         CallStack& stack, BranchLog* log, std::uint64_t seed);

  // Creates the thread's stack at the start of the trace, at a time in units. Returns false when
  // the graph has no function for the bottom of the stack.
  [[nodiscard]] bool begin(std::uint64_t now);

  void sit(const Seat& seat) { seat_ = seat; }

  // Runs user code until the clock shows `until`, units, or the trace has `bytes` in all, just
  // behind the branch that the last packet is about, or a system call.
  Stop run(std::uint64_t until, std::uint64_t bytes);

  // Address where user code goes on.
  [[nodiscard]] std::uint64_t ip() const;
  // User code begins or goes on there, after the kernel ran.
  void enter_user();
  // An interrupt takes user code away, at a random instruction of the next block.
  void interrupt();
  // The same, with the traced kernel's work; user code goes on.
  void interrupt_through_kernel();
  // A signal's handler will run next, in place of what was interrupted. False where it cannot.
  bool deliver_signal(FunctionId handler);

  // Starts and ends a loss of trace; see CallStack.
  void begin_loss(std::string_view reason);
  void end_loss();
  // Returns true at the entry of a stub or inside it, while the trace does not contain its target
  // yet.
  [[nodiscard]] bool in_stub() const;
  // What runs up to the next packet calls nothing.
  [[nodiscard]] bool decides_next() const;

private:
  struct Anchor { // a call on a loop of its function
    BlockId call = no_block;
    std::vector<bool> reach; // blocks of the function that lead to it
  };

  void choose_interrupted();
  void find_reach(Anchor& anchor) const;
  [[nodiscard]] bool find_anchor(Anchor& anchor);
  [[nodiscard]] bool find_anchor(Anchor& anchor, End kind);
  void push_caller(BlockId call, Frame::Kind kind, std::uint64_t now);
  [[nodiscard]] std::optional<BlockId> any_call(const FunctionNode& function);
  [[nodiscard]] bool stays(BlockId to) const;
  [[nodiscard]] bool decide(const Block& block);
  [[nodiscard]] BlockId choose_indirect(const Block& block);
  [[nodiscard]] FunctionId choose_callee();
  [[nodiscard]] std::uint32_t take_budget();
  void go_to(const Block& from, BlockId to, std::uint64_t from_ip);
  void open_call(const Block& block, BlockId callee, std::uint64_t behind, std::uint64_t entry);
  void follow_indirect_jump(const Block& block);
  void follow_return(const Block& block);
  bool unwind(const Block& block, bool by_return);
  void end_signal();
  [[nodiscard]] FunctionId real(FunctionId id) const;
  [[nodiscard]] bool in_trace(std::uint64_t from, std::uint64_t to) const {
    return !config_.filter || config_.filter->holds(from) || config_.filter->holds(to);
  }
  void log(std::uint64_t from, std::uint64_t to, std::string_view kind) {
    if (log_ != nullptr) [[unlikely]] {
      write_log(from, to, kind);
    }
  }
  void write_log(std::uint64_t from, std::uint64_t to, std::string_view kind);
  [[nodiscard]] std::uint64_t now() const { return seat_.clock->units(); }

  const Process* process_;
  const CodeGraph* graph_;
  const Behaviour* behaviour_;
  WalkerConfig config_;
  CallStack* stack_;
  BranchLog* log_;
  Random random_;
  Seat seat_;
  Anchor bottom_;
  BlockId at_ = no_block;
  std::uint64_t resume_ip_ = 0;   // in the middle of the block at_; 0: at its begin
  bool in_signal_return_ = false; // control is at the code that ends a signal
};

} // namespace ptlens::ptsim::synth
