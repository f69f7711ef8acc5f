// A piece of trace gives the same packets wherever it is cut into chunks. libipt's encoder makes
// the packets.
#include "flow/packets/piece_parser.hpp"

#include <gtest/gtest.h>
#include <intel-pt.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::flow {
namespace {

struct Encoded {
  std::vector<std::byte> bytes;
  std::vector<std::uint64_t> offsets; // of the packets
  std::vector<std::uint64_t> psbs;
};

// A PSB+ and packets of every length from 1 to 9 bytes, twice.
Encoded encoded() {
  std::array<std::uint8_t, 512> buffer{};
  pt_config config{};
  pt_config_init(&config);
  config.begin = buffer.data();
  config.end = buffer.data() + buffer.size();
  pt_encoder* const encoder = pt_alloc_encoder(&config);
  Encoded made;
  const auto add = [&](pt_packet packet) {
    std::uint64_t offset = 0;
    EXPECT_GE(pt_enc_get_offset(encoder, &offset), 0);
    made.offsets.push_back(offset);
    if (packet.type == ppt_psb) {
      made.psbs.push_back(offset);
    }
    EXPECT_GT(pt_enc_next(encoder, &packet), 0);
  };
  for (int round = 0; round < 2; ++round) {
    pt_packet packet{};
    packet.type = ppt_psb;
    add(packet);
    packet.type = ppt_tsc;
    packet.payload.tsc.tsc = 0x11223344;
    add(packet);
    packet.type = ppt_psbend;
    add(packet);
    for (const pt_ip_compression compression :
         {pt_ipc_sext_48, pt_ipc_update_16, pt_ipc_update_32, pt_ipc_full, pt_ipc_suppressed}) {
      packet = pt_packet{};
      packet.type = ppt_tip;
      packet.payload.ip = {.ipc = compression, .ip = 0x7fff12345678};
      add(packet);
    }
    for (unsigned bits = 1; bits < 60; bits += 7) {
      packet = pt_packet{};
      packet.type = ppt_cyc;
      packet.payload.cyc.value = (std::uint64_t{1} << bits) + 1;
      add(packet);
    }
    packet = pt_packet{};
    packet.type = ppt_tnt_64;
    packet.payload.tnt = {.bit_size = 47, .payload = 0x123456789};
    add(packet);
  }
  std::uint64_t size = 0;
  pt_enc_get_offset(encoder, &size);
  pt_free_encoder(encoder);
  const auto bytes = std::as_bytes(std::span(buffer)).first(size);
  made.bytes.assign(bytes.begin(), bytes.end());
  return made;
}

using Parts = std::vector<std::span<const std::byte>>;

Parts cut_at(const std::vector<std::byte>& bytes, std::size_t first, std::size_t second) {
  const std::span all(bytes);
  return {all.first(first), all.subspan(first, second - first), all.subspan(second)};
}

TEST(PieceParser, ReadsThePacketsWhereverTheyAreCut) {
  const Encoded trace = encoded();
  for (std::size_t first = 0; first <= trace.bytes.size(); ++first) {
    for (const std::size_t gap : {0U, 1U, 3U, 20U}) {
      const Parts parts = cut_at(trace.bytes, first, std::min(first + gap, trace.bytes.size()));
      PieceParser parser(parts);
      std::vector<std::uint64_t> offsets;
      for (;;) {
        const std::uint64_t offset = parser.offset();
        const RawPacket packet = parser.next();
        if (packet.kind == RawKind::cut) {
          break;
        }
        ASSERT_NE(packet.kind, RawKind::bad) << first << ' ' << gap << ' ' << offset;
        offsets.push_back(offset);
      }
      ASSERT_EQ(offsets, trace.offsets) << first << ' ' << gap;
    }
  }
}

TEST(PieceParser, BeginsAtTheGivenOffset) {
  const Encoded trace = encoded();
  for (std::size_t cut = 0; cut <= trace.bytes.size(); ++cut) {
    const Parts parts = cut_at(trace.bytes, cut, cut);
    PieceParser parser(parts, trace.psbs[1]);
    EXPECT_EQ(parser.offset(), trace.psbs[1]);
    EXPECT_EQ(parser.next().kind, RawKind::psb);
    EXPECT_EQ(parser.next().kind, RawKind::tsc);
  }
}

TEST(PieceParser, FindsAPsbInSeveralChunks) {
  const Encoded trace = encoded();
  for (std::size_t cut = 0; cut <= trace.bytes.size(); ++cut) {
    for (const std::size_t gap : {0U, 1U, 5U, 14U}) {
      const Parts parts = cut_at(trace.bytes, cut, std::min(cut + gap, trace.bytes.size()));
      const PieceParser parser(parts);
      EXPECT_EQ(parser.find_psb(0), trace.psbs[0]) << cut << ' ' << gap;
      EXPECT_EQ(parser.find_psb(1), trace.psbs[1]) << cut << ' ' << gap;
      EXPECT_EQ(parser.find_psb(trace.psbs[1]), trace.psbs[1]) << cut << ' ' << gap;
      EXPECT_FALSE(parser.find_psb(trace.psbs[1] + 1)) << cut << ' ' << gap;
    }
  }
}

TEST(PieceParser, GoesOnAtTheNextPsbAfterABadPacket) {
  Encoded trace = encoded();
  const std::size_t broken = trace.offsets[3];
  trace.bytes[broken] = std::byte{0x05}; // begins no packet
  for (std::size_t cut = 0; cut <= trace.bytes.size(); ++cut) {
    const Parts parts = cut_at(trace.bytes, cut, cut);
    PieceParser parser(parts, broken);
    EXPECT_EQ(parser.next().kind, RawKind::bad);
    EXPECT_TRUE(parser.skip_to_psb());
    EXPECT_EQ(parser.offset(), trace.psbs[1]);
    EXPECT_EQ(parser.next().kind, RawKind::psb);
    EXPECT_FALSE(parser.skip_to_psb());
    EXPECT_EQ(parser.next().kind, RawKind::cut);
  }
}

} // namespace
} // namespace ptlens::flow
