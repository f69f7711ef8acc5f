// Packets as written, read back by libipt's packet decoder: every field as it was given, every
// address after decompression.
#include "trace/packet_writer.hpp"

#include <gtest/gtest.h>
#include <intel-pt.h>

#include <random>
#include <vector>

namespace ptlens::ptsim {
namespace {

std::vector<pt_packet> read(PacketWriter& writer) {
  std::vector<std::uint8_t> bytes = writer.take();
  pt_config config{};
  pt_config_init(&config);
  config.begin = bytes.data();
  config.end = bytes.data() + bytes.size();
  pt_packet_decoder* decoder = pt_pkt_alloc_decoder(&config);
  std::vector<pt_packet> found;
  EXPECT_EQ(pt_pkt_sync_set(decoder, 0), 0);
  pt_packet packet{};
  int status = 0;
  while ((status = pt_pkt_next(decoder, &packet, sizeof packet)) > 0) {
    found.push_back(packet);
  }
  EXPECT_EQ(status, -pte_eos);
  pt_pkt_free_decoder(decoder);
  return found;
}

TEST(PacketWriter, EveryPacketIsReadBackAsGiven) {
  PacketWriter writer;
  writer.psb();
  writer.tsc(0x00123456789abcde);
  writer.tma(0xabcd, 0x1fe);
  writer.cbr(36);
  writer.mode_exec_64bit();
  writer.psbend();
  writer.mtc(0x7f);
  writer.ovf();
  writer.pgd_without_ip();
  const auto found = read(writer);
  ASSERT_EQ(found.size(), 9U);
  EXPECT_EQ(found[0].type, ppt_psb);
  EXPECT_EQ(found[1].payload.tsc.tsc, 0x00123456789abcdeU);
  EXPECT_EQ(found[2].payload.tma.ctc, 0xabcd);
  EXPECT_EQ(found[2].payload.tma.fc, 0x1fe);
  EXPECT_EQ(found[3].payload.cbr.ratio, 36);
  EXPECT_EQ(found[4].payload.mode.leaf, pt_mol_exec);
  EXPECT_EQ(pt_get_exec_mode(&found[4].payload.mode.bits.exec), ptem_64bit);
  EXPECT_EQ(found[5].type, ppt_psbend);
  EXPECT_EQ(found[6].payload.mtc.ctc, 0x7f);
  EXPECT_EQ(found[7].type, ppt_ovf);
  EXPECT_EQ(found[8].type, ppt_tip_pgd);
  EXPECT_EQ(found[8].payload.ip.ipc, pt_ipc_suppressed);
}

TEST(PacketWriter, CyclesOfEverySize) {
  PacketWriter writer;
  std::vector<std::uint64_t> sent;
  for (std::uint64_t cycles = 1; cycles < std::uint64_t{1} << 50; cycles = cycles * 2 + 1) {
    sent.push_back(cycles);
    writer.cyc(cycles);
  }
  const auto found = read(writer);
  ASSERT_EQ(found.size(), sent.size());
  for (std::size_t index = 0; index < sent.size(); ++index) {
    EXPECT_EQ(found[index].payload.cyc.value, sent[index]);
  }
}

TEST(PacketWriter, OutcomesOfEveryCount) {
  PacketWriter writer;
  for (std::uint8_t count = 1; count <= 6; ++count) {
    for (std::uint8_t bits = 0; bits < 1U << count; ++bits) {
      writer.tnt8(bits, count);
    }
  }
  const auto found = read(writer);
  std::size_t index = 0;
  for (std::uint8_t count = 1; count <= 6; ++count) {
    for (std::uint8_t bits = 0; bits < 1U << count; ++bits, ++index) {
      ASSERT_EQ(found.at(index).type, ppt_tnt_8);
      EXPECT_EQ(found[index].payload.tnt.bit_size, count);
      EXPECT_EQ(found[index].payload.tnt.payload, bits);
    }
  }
}

TEST(PacketWriter, AddressesSurviveCompression) {
  PacketWriter writer;
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> sent;
  std::uint64_t address = 0x7fffabcd1234;
  for (int step = 0; step < 1000; ++step) {
    if (step % 100 == 50) {
      writer.ovf();
    }
    const unsigned bits = step % 3 == 0 ? 15 : step % 3 == 1 ? 30 : 46;
    address = (address & ~((std::uint64_t{1} << bits) - 1)) |
              (random() & ((std::uint64_t{1} << bits) - 1));
    sent.push_back(address);
    writer.ip(step % 2 == 0 ? IpPacket::tip : IpPacket::fup, address);
  }
  std::uint64_t last = 0;
  std::size_t index = 0;
  for (const pt_packet& packet : read(writer)) {
    if (packet.type == ppt_ovf) {
      last = 0;
      continue;
    }
    const std::uint64_t ip = packet.payload.ip.ip;
    switch (packet.payload.ip.ipc) {
    case pt_ipc_update_16:
      last = (last & ~0xffffULL) | ip;
      break;
    case pt_ipc_update_32:
      last = (last & ~0xffffffffULL) | ip;
      break;
    default:
      EXPECT_EQ(packet.payload.ip.ipc, pt_ipc_sext_48);
      last = ip;
    }
    EXPECT_EQ(last, sent.at(index++));
  }
  EXPECT_EQ(index, sent.size());
}

TEST(PacketWriter, ACutTakesBackTheLastBytes) {
  PacketWriter writer;
  writer.mtc(1);
  writer.ip(IpPacket::tip, 0x401000);
  const std::uint64_t total = writer.total();
  writer.cut(5);
  EXPECT_EQ(writer.total(), total - 5);
  EXPECT_EQ(writer.bytes().size(), 4U);
}

} // namespace
} // namespace ptlens::ptsim
