// Follows code from a known address and takes the decisions from the packets of a stream. Where
// only TNT and TIP packets follow, the walker goes along the graph of basic blocks. Where anything
// else may take effect between two instructions, it goes one instruction at a time. Rules: Intel
// SDM vol. 3, "Change of Flow Instruction (COFI) tracing"; kernel
// tools/perf/util/intel-pt-decoder/intel-pt-decoder.c.
#pragma once

#include "flow/branches/branch.hpp"
#include "flow/branches/uncertain_time.hpp"
#include "flow/code/code_graph.hpp"
#include "flow/packets/packet_stream.hpp"
#include "flow/runs/run_builder.hpp"
#include "flow/walk/branch_consumer.hpp"
#include "flow/walk/return_stack.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace ptlens::flow {

struct ExactPacket; // packet_times.hpp
struct HeldBranch;

class PacketWalker {
public:
  // The reasons to stop. All but `full`, `branch` and `off` end the walk.
  enum class Stop {
    full,         // the run is long
    branch,       // branch() was taken
    off,          // branch() is `off` or a system call; tracing is off
    synchronised, // at the address that the PSB+ at psb_offset() states
    overflow,
    missing_code, // at address()
    bad_instruction,
    unknown_return, // a compressed return of a call that was made before the walk
    bad_trace,
    end, // of the packets
  };

  // All must outlive the walker. `run` gets each decision in time order, and the branches before
  // the branch at which next() stops.
  PacketWalker(PacketStream& packets, ReturnStack& returns, RunBuilder& run)
      : packets_(&packets), returns_(&returns), run_(&run) {}

  // Begins to walk at the address. `consumer` takes the branches where it can; may be null.
  void begin(CodeGraph& graph, BranchConsumer* consumer, std::uint64_t address) {
    move_to(graph, consumer);
    address_ = address;
    next_ = Next{};
    bit_count_ = 0;
  }

  // Continues in the same code, but in the graph of another context.
  void move_to(CodeGraph& graph, BranchConsumer* consumer) {
    graph_ = &graph;
    consumer_ = consumer;
  }

  Stop next();

  [[nodiscard]] const Branch& branch() const { return branch_; } // without time
  // Returns true where branch() is not to be emitted; it may be held back.
  [[nodiscard]] bool is_hidden() const { return hidden_; }
  // Returns true where the last decision is branch()'s own.
  [[nodiscard]] bool decided() const { return decided_; }
  [[nodiscard]] std::uint64_t address() const { return address_; }
  [[nodiscard]] std::uint64_t psb_offset() const { return next_.psb_offset; }
  // Where tracing comes back on before that time, it is in the same thread and the same code.
  void set_same_until(std::uint64_t same_until_ns) { same_until_ns_ = same_until_ns; }
  // Returns the last time about which that was used.
  [[nodiscard]] std::uint64_t last_on_ns() const { return last_on_ns_; }
  // Returns the number of instructions since the last call of this function.
  std::uint64_t take_instructions();
  // Continues from address() behind a PSB+.
  void pass_psb();

  // For BranchConsumer::follow() alone: see graph_walk.hpp.
  template <class Sink>
  void follow_packets(Sink& sink);

private:
  enum class Flow { none, bits, tip, disabled, event, psb, overflow, end, unexpected };
  struct Next {
    Flow kind = Flow::none;
    bool has_ip = false;
    std::uint64_t ip = 0;        // of tip and disabled
    std::uint64_t at = 0;        // where an event or a PSB+ takes effect
    bool event_disables = false; // an event leads to `ip`, or switches tracing off
    std::uint64_t psb_offset = 0;
    std::uint64_t bits = 0; // the oldest bit is the highest
    std::uint8_t bit_count = 0;
    Packet packet; // the packet that states it
  };

  std::optional<Stop> follow_graph();
  void enter_system(BlockId block);
  [[nodiscard]] bool knows_times() const;
  // graph_walk.hpp
  template <class Sink>
  BlockId follow_exact(BlockId block, Sink& sink);
  template <class Sink>
  bool follow_placed(BlockId& block, Sink& sink);
  template <class Times, class Sink>
  BlockId follow_bits(BlockId block, std::uint64_t bits, unsigned count, const Times& times,
                      HeldBranch& last_held, Sink& sink);
  template <class Times, class Sink>
  BlockId follow_target(BlockId block, std::uint64_t to, const Times& times, Sink& sink);
  template <class Sink>
  BlockId follow_system_call(BlockId block, PacketStream::Exact& packets, ExactPacket& exact,
                             Sink& sink);
  template <class Sink>
  void pass(const BasicBlock& block, const UncertainTime& time, Sink& sink);
  // The bits that are left of the packet are to be followed one instruction at a time, from the
  // block, or from address_ where the block is no_block.
  void leave_bits(BlockId block, std::uint64_t bits, unsigned left, const Packet& packet);
  void hold(const HeldBranch& held);

  void fetch();
  void read_event(std::uint64_t at);
  void read_psb(std::uint64_t offset);
  void use_next();
  // Takes the next TNT bit; nullopt where the packets have no bit now.
  std::optional<bool> bit();
  // Takes the target that a TIP names; nullopt where the next packet is no TIP.
  std::optional<std::uint64_t> target();
  [[nodiscard]] bool stops_here();
  Stop at_stop();
  Stop follow(const Instruction& instruction);
  Stop follow_return(const Instruction& instruction);
  [[nodiscard]] bool leaves_here(const Instruction& instruction) const;
  Stop leave(const Instruction& instruction);
  Stop take(BranchKind kind, const Instruction& instruction, std::uint64_t to);

  PacketStream* packets_;
  CodeGraph* graph_ = nullptr; // set by begin()
  BranchConsumer* consumer_ = nullptr;
  ReturnStack* returns_;
  RunBuilder* run_;
  std::uint64_t address_ = 0;
  Next next_;
  std::uint64_t bits_ = 0;
  std::uint8_t bit_count_ = 0;
  Packet bits_packet_;
  std::uint64_t instructions_ = 0;
  std::uint64_t same_until_ns_ = 0;
  std::uint64_t last_on_ns_ = 0;
  bool decided_ = false;
  bool hidden_ = false;
  bool is_off_ = false; // follow_graph() came to a system call
  Branch branch_;
};

} // namespace ptlens::flow
