// Follows code from one known address, taking decisions from the packets of a stream. Where only
// TNT and TIP packets follow, it goes along the graph of decisions; where anything else may take
// effect between two instructions, it goes one instruction at a time. Rules: Intel SDM vol. 3,
// "Change of Flow Instruction (COFI) tracing"; kernel
// tools/perf/util/intel-pt-decoder/intel-pt-decoder.c.
#pragma once

#include "flow/branches/branch.hpp"
#include "flow/branches/run_builder.hpp"
#include "flow/call_folder.hpp"
#include "flow/code/code_graph.hpp"
#include "flow/packets/packet_stream.hpp"
#include "flow/walk/return_stack.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace ptlens::flow {

class PacketWalker {
public:
  // What stopped the walk. Each but `full`, `branch` and `off` ends it.
  enum class Stop {
    full,         // the run is long
    branch,       // branch() was taken
    off,          // branch(): off, or a system call; tracing is off
    synchronised, // at the address that the PSB+ at psb_offset() states
    overflow,
    missing_code, // at address()
    bad_instruction,
    unknown_return, // a compressed return of a call that was made before the walk
    bad_trace,
    end, // of the packets
  };

  // All must outlive the walker. `run` hears of each decision in time, and of the branches that
  // come before the one at which next() stops.
  PacketWalker(PacketStream& packets, ReturnStack& returns, RunBuilder& run)
      : packets_(&packets), returns_(&returns), run_(&run) {}

  // From here on.
  void begin(CodeGraph& graph, std::uint64_t address) {
    graph_ = &graph;
    address_ = address;
    next_ = Next{};
    bit_count_ = 0;
  }

  // Goes on in the same code.
  void move_to(CodeGraph& graph) { graph_ = &graph; }

  Stop next();

  [[nodiscard]] const Branch& branch() const { return branch_; } // without time
  // It is none of those that are told, but may be held.
  [[nodiscard]] bool is_untold() const { return untold_; }
  // The last decision is branch()'s own.
  [[nodiscard]] bool decided() const { return decided_; }
  [[nodiscard]] std::uint64_t address() const { return address_; }
  [[nodiscard]] std::uint64_t psb_offset() const { return next_.psb_offset; }
  // Instructions since the last call of this function.
  std::uint64_t take_instructions();
  // Goes on from address() behind a PSB+.
  void pass_psb();

private:
  enum class Flow { none, bits, tip, disabled, event, psb, overflow, end, unexpected };
  struct Next {
    Flow kind = Flow::none;
    bool has_ip = false;
    std::uint64_t ip = 0;        // of tip and disabled
    std::uint64_t at = 0;        // where an event or a PSB+ takes effect
    bool event_disables = false; // an event: to `ip`, or off
    std::uint64_t psb_offset = 0;
    std::uint64_t bits = 0; // oldest highest
    std::uint8_t bit_count = 0;
    Packet packet; // that states it
  };

  std::optional<Stop> follow_graph();
  void enter_system(BlockIndex way, const Packet& packet);
  // exact_steps.cpp
  struct Exact;
  class TellBranches;
  BlockIndex follow_exact(BlockIndex way);
  template <class Teller>
  BlockIndex follow_exact(BlockIndex way, Teller& teller);
  template <class Teller>
  BlockIndex follow_exact_bits(BlockIndex way, std::uint64_t bits, unsigned count,
                               std::uint8_t size, Exact& exact, Teller& teller);
  template <class Teller>
  BlockIndex follow_exact_target(BlockIndex way, std::uint64_t to, const Exact& exact,
                                 Teller& teller);
  template <class Teller>
  void pass_exact(std::uint32_t first_step, std::uint32_t step_count, const Moment& moment,
                  Teller& teller);
  BlockIndex follow_bits(BlockIndex way, const Packet& packet);
  BlockIndex follow_target(BlockIndex way, const Packet& packet);
  void pass(const BasicBlock& way, const Moment& moment);
  void hold(BlockIndex way, const Moment& moment);

  void fetch();
  void read_event(std::uint64_t at);
  void read_psb(std::uint64_t offset);
  void use_next();
  // The next TNT bit; nothing when the packets hold none now.
  std::optional<bool> bit();
  // The target that a TIP names; nothing when the next packet is none.
  std::optional<std::uint64_t> target();
  [[nodiscard]] bool stops_here();
  Stop at_stop();
  Stop follow(const Instruction& instruction);
  Stop follow_return(const Instruction& instruction);
  [[nodiscard]] bool leaves_here(const Instruction& instruction) const;
  Stop leave(const Instruction& instruction);
  Stop take(BranchKind kind, const Instruction& instruction, std::uint64_t to);

  PacketStream* packets_;
  CodeGraph* graph_ = nullptr; // after begin()
  ReturnStack* returns_;
  RunBuilder* run_;
  std::uint64_t address_ = 0;
  Next next_;
  std::uint64_t bits_ = 0;
  std::uint8_t bit_count_ = 0;
  Packet bits_packet_;
  std::uint64_t instructions_ = 0;
  bool decided_ = false;
  bool untold_ = false;
  Branch branch_;
  CallFolder folder_;
};

} // namespace ptlens::flow
