// Follows code by hand from one known address, taking decisions from the packets behind a cursor,
// up to the next PSB. Used after a gap, where libipt would have to wait for that PSB. Rules: Intel
// SDM vol. 3, "Change of Flow Instruction (COFI) tracing"; kernel
// tools/perf/util/intel-pt-decoder/intel-pt-decoder.c.
#pragma once

#include "flow/branch.hpp"
#include "flow/code_image.hpp"
#include "flow/packet_cursor.hpp"
#include "flow/run_builder.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace ptlens::flow {

// Return addresses that compressed returns go to: at most 64, the oldest is forgotten (SDM, "RET
// compression").
class ReturnStack {
public:
  void push(std::uint64_t address);
  void clear() { addresses_.clear(); }
  // Nothing where the stack is empty.
  std::optional<std::uint64_t> pop();

private:
  std::vector<std::uint64_t> addresses_;
};

class PacketWalker {
public:
  // What stopped the walk. Each but `branch` and `off` ends it.
  enum class Stop {
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

  // All must outlive the walker. `run` hears of each decision in time.
  PacketWalker(PacketCursor& cursor, CodeImage& image, ReturnStack& returns, RunBuilder& run,
               std::uint64_t address)
      : cursor_(&cursor), image_(&image), returns_(&returns), run_(&run), address_(address) {}

  Stop next();

  [[nodiscard]] const Branch& branch() const { return branch_; } // without time
  // The last decision is branch()'s own.
  [[nodiscard]] bool decided() const { return decided_; }
  [[nodiscard]] std::uint64_t address() const { return address_; }
  [[nodiscard]] std::uint64_t psb_offset() const { return next_.psb_offset; }
  // Instructions since the last call of this function.
  std::uint64_t take_instructions();

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
    PacketCursor::Packet packet; // that states it
  };

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

  PacketCursor* cursor_;
  CodeImage* image_;
  ReturnStack* returns_;
  RunBuilder* run_;
  std::uint64_t address_;
  Next next_;
  std::uint64_t bits_ = 0;
  std::uint8_t bit_count_ = 0;
  PacketCursor::Packet bits_packet_;
  std::uint64_t instructions_ = 0;
  bool decided_ = false;
  Branch branch_;
};

} // namespace ptlens::flow
