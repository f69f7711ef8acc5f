// Compares our packet parser with libipt's packet decoder: on every kind of packet that libipt's
// encoder can make, and on random bytes.
#include "flow/packets/packet_parser.hpp"

#include <gtest/gtest.h>
#include <intel-pt.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace ptlens::flow {
namespace {

using Bytes = std::vector<std::uint8_t>;

// Returns one line for each packet at the beginning of the bytes, up to the first bytes that are no
// packet.
std::vector<std::string> ours(const Bytes& bytes) {
  std::vector<std::string> lines;
  PacketParser parser(bytes.data(), bytes.data() + bytes.size());
  for (;;) {
    const RawPacket packet = parser.next();
    const auto line = [&](const std::string& name, std::uint64_t a = 0, std::uint64_t b = 0) {
      lines.push_back(name + " " + std::to_string(packet.size) + " " + std::to_string(a) + " " +
                      std::to_string(b));
    };
    switch (packet.kind) {
    case RawKind::bad:
      lines.emplace_back("bad");
      return lines;
    case RawKind::cut:
      lines.emplace_back("end");
      return lines;
    case RawKind::pad:
      line("pad");
      break;
    case RawKind::tnt:
      line("tnt", packet.payload, packet.count);
      break;
    case RawKind::tip:
      line("tip", packet.payload, packet.count);
      break;
    case RawKind::pge:
      line("pge", packet.payload, packet.count);
      break;
    case RawKind::pgd:
      line("pgd", packet.payload, packet.count);
      break;
    case RawKind::fup:
      line("fup", packet.payload, packet.count);
      break;
    case RawKind::cyc:
      line("cyc", packet.payload);
      break;
    case RawKind::mtc:
      line("mtc", packet.payload);
      break;
    case RawKind::tsc:
      line("tsc", packet.payload);
      break;
    case RawKind::tma:
      line("tma", packet.payload, packet.fast);
      break;
    case RawKind::cbr:
      line("cbr", packet.payload);
      break;
    case RawKind::psb:
      line("psb");
      break;
    case RawKind::psbend:
      line("psbend");
      break;
    case RawKind::overflow:
      line("overflow");
      break;
    case RawKind::mode_tsx:
      line("tsx");
      break;
    case RawKind::ptwrite:
      line("ptwrite", packet.count);
      break;
    case RawKind::exstop:
      line("exstop", packet.count);
      break;
    case RawKind::other:
      line("other");
      break;
    }
  }
}

std::vector<std::string> libipts(const Bytes& bytes) {
  Bytes copy = bytes;
  pt_config config;
  pt_config_init(&config);
  config.begin = copy.data();
  config.end = copy.data() + copy.size();
  const std::unique_ptr<pt_packet_decoder, void (*)(pt_packet_decoder*)> decoder(
      pt_pkt_alloc_decoder(&config), pt_pkt_free_decoder);
  pt_pkt_sync_set(decoder.get(), 0);
  std::vector<std::string> lines;
  for (;;) {
    pt_packet packet;
    const int size = pt_pkt_next(decoder.get(), &packet, sizeof packet);
    if (size < 0) {
      lines.emplace_back(size == -pte_eos ? "end" : "bad");
      return lines;
    }
    const auto line = [&](const std::string& name, std::uint64_t a = 0, std::uint64_t b = 0) {
      lines.push_back(name + " " + std::to_string(size) + " " + std::to_string(a) + " " +
                      std::to_string(b));
    };
    const auto address = [&](const std::string& name) {
      const pt_packet_ip& ip = packet.payload.ip;
      constexpr std::array<unsigned, 8> bits = {0, 16, 32, 48, 48, 0, 64, 0};
      const unsigned width = bits[ip.ipc];
      const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
      line(name, width == 0 ? 0 : ip.ip & mask, ip.ipc);
    };
    switch (packet.type) {
    case ppt_pad:
      line("pad");
      break;
    case ppt_tnt_8:
    case ppt_tnt_64:
      line("tnt", packet.payload.tnt.payload, packet.payload.tnt.bit_size);
      break;
    case ppt_tip:
      address("tip");
      break;
    case ppt_tip_pge:
      address("pge");
      break;
    case ppt_tip_pgd:
      address("pgd");
      break;
    case ppt_fup:
      address("fup");
      break;
    case ppt_cyc:
      line("cyc", packet.payload.cyc.value);
      break;
    case ppt_mtc:
      line("mtc", packet.payload.mtc.ctc);
      break;
    case ppt_tsc:
      line("tsc", packet.payload.tsc.tsc);
      break;
    case ppt_tma:
      line("tma", packet.payload.tma.ctc, packet.payload.tma.fc);
      break;
    case ppt_cbr:
      line("cbr", packet.payload.cbr.ratio);
      break;
    case ppt_psb:
      line("psb");
      break;
    case ppt_psbend:
      line("psbend");
      break;
    case ppt_ovf:
      line("overflow");
      break;
    case ppt_mode:
      line(packet.payload.mode.leaf == pt_mol_tsx ? "tsx" : "other");
      break;
    case ppt_ptw:
      line("ptwrite", packet.payload.ptw.ip);
      break;
    case ppt_exstop:
      line("exstop", packet.payload.exstop.ip);
      break;
    default:
      line("other");
      break;
    }
  }
}

TEST(PacketParser, AgreesWithLibiptOnRandomBytes) {
  // Headers and their extensions are frequent enough to occur in every combination.
  constexpr std::array<std::uint8_t, 32> seconds = {0x82, 0x23, 0xf3, 0x03, 0x73, 0xa3, 0x43, 0xc3,
                                                    0xc8, 0x83, 0x12, 0x92, 0x32, 0xb2, 0x62, 0xe2,
                                                    0xc2, 0x22, 0xa2, 0x02, 0x00, 0xff, 0x52, 0x72,
                                                    0xf2, 0x19, 0x59, 0x99, 0x42, 0x33, 0x63, 0x13};
  // libipt 2.0.5 does not know BBP, BEP and CFE.
  constexpr std::array<std::uint8_t, 5> unknown_to_libipt = {0x33, 0xb3, 0x63, 0x13, 0x53};
  const auto is_unknown = [&](std::uint8_t byte) {
    return std::ranges::find(unknown_to_libipt, byte) != unknown_to_libipt.end();
  };
  std::mt19937 random(1);
  for (int round = 0; round < 200'000; ++round) {
    Bytes bytes;
    for (std::size_t size = random() % 40 + 1; bytes.size() < size;) {
      const auto byte = static_cast<std::uint8_t>(random());
      const unsigned choice = random() % 8;
      if (choice == 0) {
        bytes.push_back(0x02);
        bytes.push_back(seconds[random() % seconds.size()]);
      } else if (choice == 1) {
        bytes.push_back(static_cast<std::uint8_t>((byte & 0xe0U) | 0x0dU));
      } else if (byte != 0x02) {
        bytes.push_back(byte);
      }
    }
    for (std::size_t index = 1; index < bytes.size(); ++index) {
      if (bytes[index - 1] == 0x02 && is_unknown(bytes[index])) {
        bytes[index] = 0x23;
      }
    }
    ASSERT_EQ(ours(bytes), libipts(bytes)) << testing::PrintToString(bytes);
  }
}

TEST(PacketParser, ReadsAPsbOnlyWhole) {
  Bytes psb;
  for (int pair = 0; pair < 8; ++pair) {
    psb.push_back(0x02);
    psb.push_back(0x82);
  }
  EXPECT_EQ(ours(psb), (std::vector<std::string>{"psb 16 0 0", "end"}));
  psb.pop_back();
  EXPECT_EQ(ours(psb), (std::vector<std::string>{"end"}));
  psb.push_back(0x83);
  EXPECT_EQ(ours(psb), (std::vector<std::string>{"bad"}));
}

} // namespace
} // namespace ptlens::flow
