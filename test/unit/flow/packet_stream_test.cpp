// The times at which packets were sent and their branches happened. libipt's encoder makes the
// packets; the expected times are computed by hand from the SDM's rules. A tick is a nanosecond.
#include "flow/packets/packet_stream.hpp"

#include <gtest/gtest.h>
#include <intel-pt.h>

#include <array>
#include <vector>

namespace ptlens::flow {
namespace {

// A 24 MHz crystal and a 3 GHz TSC: a crystal tick is 125 ticks; an MTC comes every 8 crystal
// ticks. At core ratio 30 a core cycle is a TSC tick.
ClockConfig clock_config(bool every_cycle) {
  return {125, 1, 3, 30, every_cycle};
}

class Trace {
public:
  Trace() {
    pt_config_init(&config_);
    config_.begin = bytes_.data();
    config_.end = bytes_.data() + bytes_.size();
    encoder_ = pt_alloc_encoder(&config_);
  }
  ~Trace() { pt_free_encoder(encoder_); }
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  Trace(Trace&&) = delete;
  Trace& operator=(Trace&&) = delete;

  Trace& add(pt_packet packet) {
    EXPECT_GT(pt_enc_next(encoder_, &packet), 0);
    return *this;
  }
  Trace& plain(pt_packet_type type) { return add(packet(type)); }
  // PSB+ with TSC 10,000 on a crystal tick whose count's low bits are 0.
  Trace& begin() {
    plain(ppt_psb);
    tsc(10'000);
    pt_packet alignment = packet(ppt_tma);
    alignment.payload.tma.ctc = 0x100;
    add(alignment);
    pt_packet ratio = packet(ppt_cbr);
    ratio.payload.cbr.ratio = 30;
    add(ratio);
    return plain(ppt_psbend);
  }
  Trace& tsc(std::uint64_t ticks) {
    pt_packet made = packet(ppt_tsc);
    made.payload.tsc.tsc = ticks;
    return add(made);
  }
  Trace& mtc(std::uint8_t count) {
    pt_packet made = packet(ppt_mtc);
    made.payload.mtc.ctc = count;
    return add(made);
  }
  Trace& cyc(std::uint64_t cycles) {
    pt_packet made = packet(ppt_cyc);
    made.payload.cyc.value = cycles;
    return add(made);
  }
  Trace& tnt(std::uint8_t count) {
    pt_packet made = packet(ppt_tnt_8);
    made.payload.tnt.bit_size = count;
    return add(made);
  }
  Trace& tip() {
    pt_packet made = packet(ppt_tip);
    made.payload.ip.ipc = pt_ipc_sext_48;
    made.payload.ip.ip = 0x1000;
    return add(made);
  }

  // The TNT and TIP packets.
  // `announced_ns`: when the kernel announced all of the trace, 0: never.
  std::vector<Packet> read(bool every_cycle, std::uint64_t announced_ns = 0) {
    std::uint64_t size = 0;
    pt_enc_get_offset(encoder_, &size);
    TracePiece piece;
    piece.trace = {std::as_bytes(std::span(bytes_)).first(size)};
    piece.size = size;
    if (announced_ns != 0) {
      piece.announcements.push_back({size, announced_ns});
    }
    PacketStream stream(piece, clock_config(every_cycle), {});
    std::vector<Packet> packets;
    for (; stream.peek() != nullptr; stream.pop()) {
      if (stream.peek()->kind == PacketKind::tnt || stream.peek()->kind == PacketKind::tip) {
        packets.push_back(*stream.peek());
      }
    }
    return packets;
  }

private:
  static pt_packet packet(pt_packet_type type) {
    pt_packet made{};
    made.type = type;
    return made;
  }

  std::array<std::uint8_t, 4096> bytes_{};
  pt_config config_{};
  pt_encoder* encoder_ = nullptr;
};

void expect_interval(const std::optional<TimeInterval>& interval, std::uint64_t earliest,
                     std::uint64_t latest) {
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->earliest, earliest);
  EXPECT_EQ(interval->latest, latest);
}

TEST(PacketStream, CyclePacketGivesThePacketBehindItItsExactTime) {
  const auto packets = Trace().begin().cyc(40).tip().cyc(60).tnt(3).read(false);
  ASSERT_EQ(packets.size(), 2U);
  expect_interval(packets[0].sent(), 10'040, 10'040);
  expect_interval(packets[1].sent(), 10'100, 10'100);
}

TEST(PacketStream, BranchesOfATntHappenedAfterThePacketBefore) {
  const auto packets = Trace().begin().cyc(40).tip().cyc(60).tnt(3).read(false);
  ASSERT_EQ(packets.size(), 2U);
  expect_interval(packets[1].when(1), 10'040, 10'100);
  expect_interval(packets[1].when(3), 10'040, 10'100); // sent for another reason
}

TEST(PacketStream, BranchThatFillsATntSendsIt) {
  const auto packets = Trace().begin().cyc(40).tip().cyc(60).tnt(6).read(false);
  ASSERT_EQ(packets.size(), 2U);
  expect_interval(packets[1].when(5), 10'040, 10'100);
  expect_interval(packets[1].when(6), 10'100, 10'100);
}

TEST(PacketStream, WithoutCyclesAPacketWasSentBetweenTheTimingPacketsAroundIt) {
  const auto packets = Trace().begin().mtc(0x21).tip().tnt(2).mtc(0x22).read(false);
  ASSERT_EQ(packets.size(), 2U);
  expect_interval(packets[0].sent(), 11'000, 12'000); // 10,000 + 8 × 125, + 16 × 125
  expect_interval(packets[1].sent(), 11'000, 12'000);
}

TEST(PacketStream, PacketsAreOlderThanTheirAnnouncement) {
  const auto packets = Trace().begin().mtc(0x21).tip().tnt(2).read(false, 11'300);
  ASSERT_EQ(packets.size(), 2U);
  expect_interval(packets[0].sent(), 11'000, 11'300);
  expect_interval(packets[1].sent(), 11'000, 11'300);
  const auto earlier = Trace().begin().mtc(0x21).tip().mtc(0x40).read(false, 11'300);
  ASSERT_EQ(earlier.size(), 1U);
  expect_interval(earlier[0].sent(), 11'000, 11'300); // the processor slept before the MTC
}

TEST(PacketStream, TntMayHaveWaitedSinceBeforeTheTimingPacket) {
  const auto packets = Trace().begin().mtc(0x21).tip().mtc(0x22).tnt(2).mtc(0x23).read(false);
  ASSERT_EQ(packets.size(), 2U);
  expect_interval(packets[1].sent(), 12'000, 13'000);
  expect_interval(packets[1].when(1), 11'000, 13'000);
}

TEST(PacketStream, WithEveryCycleCountedNoCyclePacketMeansNoCycle) {
  const auto packets = Trace().begin().cyc(40).tnt(1).tip().cyc(9).tip().read(true);
  ASSERT_EQ(packets.size(), 3U);
  expect_interval(packets[1].sent(), 10'040, 10'040);
  expect_interval(packets[2].sent(), 10'049, 10'049);
}

TEST(PacketStream, WithACycleThresholdNoCyclePacketMayMeanSomeCycles) {
  const auto packets = Trace().begin().cyc(40).tnt(1).tip().cyc(90).tip().read(false);
  ASSERT_EQ(packets.size(), 3U);
  expect_interval(packets[1].sent(), 10'040, 10'130);
}

TEST(PacketStream, CyclesAfterAnOverflowAreNoUpperBound) {
  const auto packets =
      Trace().begin().cyc(40).tip().plain(ppt_ovf).cyc(5).tip().tsc(30'000).cyc(1).tip().read(true);
  ASSERT_EQ(packets.size(), 3U);
  expect_interval(packets[1].sent(), 10'040, 30'000);
  expect_interval(packets[2].sent(), 30'001, 30'001);
}

// The next MTC would have come a period later.
TEST(PacketStream, LastPacketsOfATraceAreBoundByAPeriod) {
  const auto packets = Trace().begin().mtc(0x21).tip().read(false);
  ASSERT_EQ(packets.size(), 1U);
  expect_interval(packets[0].sent(), 11'000, 12'000);
}

} // namespace
} // namespace ptlens::flow
