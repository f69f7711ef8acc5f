// When the branches of a packet happened.
#pragma once

#include "flow/branches/uncertain_time.hpp"
#include "flow/code/code_points.hpp"
#include "flow/packets/packet.hpp"
#include "flow/runs/run_builder.hpp"

#include <cstdint>

namespace ptlens::flow {

// A conditional branch that is emitted only if a break follows before any other branch.
struct HeldBranch {
  BlockId block = no_block;
  TimeInterval in = {};
  std::uint64_t not_before = 0; // see UncertainTime
};

// Where the time of each packet is known: the packet that is followed, and what is known of the
// packets before it.
struct ExactPacket {
  TimeInterval last = {};   // of the last decision
  std::uint64_t before = 0; // when the last packet of control flow was sent
  std::uint64_t now = 0;    // when this packet was sent
  HeldBranch held = {};
};

// The times of the branches of a packet, by the number of its bits that are left; a TIP counts as
// one bit. The bit that fills the packet causes the processor to send it (SDM, "TNT packet").
class ExactTimes {
public:
  // `size` in bytes, 0: a TIP
  ExactTimes(ExactPacket& exact, unsigned count, std::uint8_t size)
      : exact_(&exact), before_(exact.before), now_(exact.now), count_(count),
        own_(size == 0 || count == tnt_room(size) ? 1 : 0), size_(size) {}

  [[nodiscard]] TimeInterval interval(unsigned left) const {
    return {left == own_ ? now_ : before_, now_};
  }
  [[nodiscard]] UncertainTime decided(unsigned left) const { return UncertainTime(interval(left)); }
  // Returns the time of what happened before the next decision.
  [[nodiscard]] UncertainTime between(unsigned left) const {
    return UncertainTime({left == count_ ? exact_->last.earliest : before_, now_});
  }
  [[nodiscard]] std::uint64_t not_before() const { return 0; }
  // To be called once, with the bits that are left and the block that control is in then.
  void end(unsigned left, BlockId block) const {
    if (left != count_) {
      const bool came_to_own = own_ != 0 && (left == 0 || (left == own_ && block != no_block));
      exact_->last = {came_to_own ? now_ : before_, now_};
    }
  }
  [[nodiscard]] Packet packet() const {
    return {.earliest_ns = now_,
            .latest_ns = now_,
            .reported_ns = before_,
            .size = size_,
            .bit_count = static_cast<std::uint8_t>(count_),
            .room = tnt_room(size_),
            .timed = true};
  }

private:
  ExactPacket* exact_;
  std::uint64_t before_;
  std::uint64_t now_;
  unsigned count_;
  unsigned own_; // bits left at the bit that sent the packet, 0: none
  std::uint8_t size_;
};

// The same for a packet of the stream, by the rules of RunBuilder.
class PlacedTimes {
public:
  PlacedTimes(RunBuilder& run, const Packet& packet)
      : run_(&run), packet_(&packet), last_(run.last()),
        count_(packet.kind == PacketKind::tnt ? packet.bit_count : 1U),
        own_(packet.timed && (packet.kind != PacketKind::tnt || count_ == packet.room) ? 1 : 0) {
    run.decide(packet.timed ? TimeInterval{packet.reported_ns, packet.latest_ns} : last_);
    first_ = run.between(last_);
    reported_in_ = run.last();
    reported_ = run.decided();
    if (own_ != 0) {
      run.decide(packet.sent());
    }
    own_in_ = run.last();
    own_time_ = run.decided();
  }

  [[nodiscard]] TimeInterval interval(unsigned left) const {
    return left == own_ ? own_in_ : reported_in_;
  }
  [[nodiscard]] const UncertainTime& decided(unsigned left) const {
    return left == own_ ? own_time_ : reported_;
  }
  [[nodiscard]] const UncertainTime& between(unsigned left) const {
    return left == count_ ? first_ : reported_;
  }
  [[nodiscard]] std::uint64_t not_before() const { return run_->not_before(); }
  void end(unsigned left, BlockId block) const {
    const bool came_to_own = left == 0 || (left == own_ && block != no_block);
    if (left == count_ || !came_to_own) {
      run_->undo_decision(left == count_ ? last_ : reported_in_);
    }
  }
  [[nodiscard]] const Packet& packet() const { return *packet_; }

private:
  RunBuilder* run_;
  const Packet* packet_;
  TimeInterval last_; // of the decision before the packet
  unsigned count_;
  unsigned own_;
  TimeInterval reported_in_;
  TimeInterval own_in_;
  UncertainTime first_;
  UncertainTime reported_;
  UncertainTime own_time_;
};

} // namespace ptlens::flow
