// Packets of the simulated trace hardware, read back by libipt's packet decoder.
#include "trace/trace_unit.hpp"

#include <gtest/gtest.h>
#include <intel-pt.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace ptlens::ptsim {
namespace {

constexpr Instruction conditional{.flow = FlowKind::conditional, .length = 2};
constexpr Instruction call{.flow = FlowKind::call, .length = 5, .cycles = 2};
constexpr Instruction ret{.flow = FlowKind::ret, .length = 1, .cycles = 2};
constexpr Instruction plain{.flow = FlowKind::none, .length = 4};
constexpr Instruction system_call{.flow = FlowKind::syscall, .length = 2};

class TraceUnitTest : public ::testing::Test {
protected:
  void start(const TraceUnitConfig& config) {
    unit = std::make_unique<TraceUnit>(config, clock, writer);
    unit->trigger_on();
    unit->enter_user(0x401000);
  }

  std::vector<pt_packet> packets() {
    std::vector<std::uint8_t> bytes = writer.take();
    if (bytes.empty()) {
      return {};
    }
    pt_config config{};
    pt_config_init(&config);
    config.begin = bytes.data();
    config.end = bytes.data() + bytes.size();
    pt_packet_decoder* decoder = pt_pkt_alloc_decoder(&config);
    std::vector<pt_packet> found;
    EXPECT_EQ(pt_pkt_sync_set(decoder, 0), 0);
    pt_packet packet{};
    while (pt_pkt_next(decoder, &packet, sizeof packet) > 0) {
      found.push_back(packet);
    }
    pt_pkt_free_decoder(decoder);
    return found;
  }

  static std::vector<pt_packet_type> types(const std::vector<pt_packet>& packets) {
    std::vector<pt_packet_type> types;
    types.reserve(packets.size());
    for (const pt_packet& packet : packets) {
      types.push_back(packet.type);
    }
    return types;
  }

  Clock clock{ClockRates{}, 1'000'000'000};
  PacketWriter writer;
  std::unique_ptr<TraceUnit> unit;
};

TEST_F(TraceUnitTest, StartsWithPsbPlusWithoutAddressThenEntersUserCode) {
  start({.cyc = true});
  EXPECT_EQ(types(packets()),
            (std::vector{ppt_psb, ppt_tsc, ppt_tma, ppt_cbr, ppt_psbend, ppt_mode, ppt_tip_pge}));
}

TEST_F(TraceUnitTest, TimeOfPsbPlusIsTheClocks) {
  start({});
  const auto found = packets();
  EXPECT_EQ(found[1].payload.tsc.tsc, clock.tsc());
  const std::uint64_t crystal = clock.tsc() / 125; // 3 GHz over 24 MHz
  EXPECT_EQ(found[2].payload.tma.ctc, crystal & 0xffff);
  EXPECT_EQ(found[2].payload.tma.fc, clock.tsc() - crystal * 125);
  EXPECT_EQ(found[3].payload.cbr.ratio, 36);
}

TEST_F(TraceUnitTest, SixOutcomesFillAPacketOldestFirst) {
  start({.mtc = false});
  packets();
  for (const bool taken : {true, false, false, true, true, false}) {
    unit->retire(conditional, 0x401000, taken ? 0x401100 : 0x401002);
  }
  const auto found = packets();
  ASSERT_EQ(types(found), (std::vector{ppt_tnt_8}));
  EXPECT_EQ(found[0].payload.tnt.bit_size, 6);
  EXPECT_EQ(found[0].payload.tnt.payload, 0b100110U);
}

TEST_F(TraceUnitTest, AMatchingReturnIsATakenOutcome) {
  start({.mtc = false});
  packets();
  unit->retire(call, 0x401000, 0x402000);
  unit->retire(ret, 0x402000, 0x401005);
  unit->retire(system_call, 0x401005, 0);
  const auto found = packets();
  ASSERT_EQ(types(found), (std::vector{ppt_tnt_8, ppt_tip_pgd}));
  EXPECT_EQ(found[0].payload.tnt.bit_size, 1);
  EXPECT_EQ(found[0].payload.tnt.payload, 1U);
  EXPECT_EQ(found[1].payload.ip.ipc, pt_ipc_suppressed);
}

TEST_F(TraceUnitTest, AReturnElsewhereIsATip) {
  start({.mtc = false});
  packets();
  unit->retire(call, 0x401000, 0x402000);
  unit->retire(ret, 0x402000, 0x403000);
  const auto found = packets();
  ASSERT_EQ(types(found), (std::vector{ppt_tip}));
  EXPECT_EQ(found[0].payload.ip.ipc, pt_ipc_update_16); // 0x401000 and 0x403000 share the rest
  EXPECT_EQ(found[0].payload.ip.ip, 0x3000U);
}

// After a return elsewhere the two reference decoders hold different stacks: no compression until
// they agree again.
TEST_F(TraceUnitTest, NoCompressionWhereDecodersDisagree) {
  start({.mtc = false});
  packets();
  unit->retire(call, 0x401000, 0x402000);
  unit->retire(call, 0x402000, 0x403000);
  unit->retire(ret, 0x403000, 0x404000); // not to 0x402005
  unit->retire(ret, 0x404000, 0x401005); // perf would find it on top, libipt would not
  EXPECT_EQ(types(packets()), (std::vector{ppt_tip, ppt_tip}));
}

TEST_F(TraceUnitTest, CyclesAddUpToTheClock) {
  start({.cyc = true});
  packets();
  const std::uint64_t begin = clock.cycles();
  for (int index = 0; index < 3000; ++index) {
    unit->retire(plain, 0x401000, 0x401004);
    unit->retire(conditional, 0x401004, 0x401000);
  }
  unit->interrupt(0x401000);
  std::uint64_t cycles = 0;
  for (const pt_packet& packet : packets()) {
    cycles += packet.type == ppt_cyc ? packet.payload.cyc.value : 0;
  }
  EXPECT_EQ(cycles, clock.cycles() - begin);
}

TEST_F(TraceUnitTest, MtcCountsEveryEighthCrystalTick) {
  start({});
  packets();
  const std::uint64_t first = clock.ctc() / 8;
  for (int index = 0; index < 12'500; ++index) { // 12,500 cycles, 83 crystal ticks
    unit->retire(plain, 0x401000, 0x401004);
  }
  const auto found = packets();
  ASSERT_EQ(found.size(), clock.ctc() / 8 - first);
  EXPECT_NEAR(static_cast<double>(found.size()), 12'500.0 / 150 / 8, 1);
  for (std::size_t index = 0; index < found.size(); ++index) {
    ASSERT_EQ(found[index].type, ppt_mtc);
    EXPECT_EQ(found[index].payload.mtc.ctc, (first + 1 + index) & 0xff);
  }
}

TEST_F(TraceUnitTest, PsbPlusComesEachTwoKibibytesWithTheAddress) {
  start({.mtc = false, .psb_period = 0});
  for (int index = 0; index < 20'000; ++index) {
    unit->retire(conditional, 0x401000, 0x401100);
  }
  const auto found = packets();
  std::vector<std::size_t> offsets;
  std::size_t offset = 0;
  for (const pt_packet& packet : found) {
    if (packet.type == ppt_psb) {
      offsets.push_back(offset);
    }
    if (packet.type == ppt_fup) {
      EXPECT_EQ(packet.payload.ip.ip, 0x401100U);
    }
    offset += packet.size;
  }
  ASSERT_GE(offsets.size(), 2U); // 20,000 outcomes are 3,334 bytes
  EXPECT_GE(offsets[1] - offsets[0], 2048U);
  EXPECT_LE(offsets[1] - offsets[0], 2048U + 16U);
}

TEST_F(TraceUnitTest, NothingIsSentWhileTracingIsOff) {
  start({.cyc = true});
  unit->retire(system_call, 0x401000, 0);
  unit->trigger_off();
  packets();
  unit->run_kernel(100'000);
  EXPECT_TRUE(packets().empty());
}

} // namespace
} // namespace ptlens::ptsim
