// The packets that are sent now and then.
#include "trace/packet_writer.hpp"

#include <algorithm>

namespace ptlens::ptsim {
namespace {

constexpr std::uint8_t extended = 0x02; // the first byte of many packets
constexpr std::size_t psb_pairs = 8;

} // namespace

void PacketWriter::grow() {
  constexpr std::size_t first_size = 4096;
  buffer_.resize(std::max(first_size, buffer_.size() * 2));
}

std::vector<std::uint8_t> PacketWriter::take(std::size_t count) {
  const auto oldest = bytes().first(std::min(count, used_));
  std::vector<std::uint8_t> copy(oldest.begin(), oldest.end());
  drop(copy.size());
  return copy;
}

void PacketWriter::drop(std::size_t count) {
  std::memmove(buffer_.data(), buffer_.data() + count, used_ - count);
  taken_ += count;
  used_ -= count;
}

void PacketWriter::cut(std::size_t bytes) {
  used_ -= std::min(bytes, used_);
}

void PacketWriter::psb() {
  std::uint8_t* at = room();
  for (std::size_t pair = 0; pair < psb_pairs; ++pair) {
    at[2 * pair] = extended;
    at[2 * pair + 1] = 0x82;
  }
  used_ += 2 * psb_pairs;
  has_last_ip_ = false;
}

void PacketWriter::psbend() {
  std::uint8_t* at = room();
  at[0] = extended;
  at[1] = 0x23;
  used_ += 2;
}

void PacketWriter::ovf() {
  std::uint8_t* at = room();
  at[0] = extended;
  at[1] = 0xf3;
  used_ += 2;
  has_last_ip_ = false;
}

void PacketWriter::tsc(std::uint64_t tsc) {
  constexpr std::size_t payload = 7;
  std::uint8_t* at = room();
  at[0] = 0x19;
  std::memcpy(at + 1, &tsc, sizeof tsc);
  used_ += 1 + payload;
}

void PacketWriter::tma(std::uint16_t ctc, std::uint16_t fast_counter) {
  std::uint8_t* at = room();
  at[0] = extended;
  at[1] = 0x73;
  at[2] = static_cast<std::uint8_t>(ctc);
  at[3] = static_cast<std::uint8_t>(ctc >> 8U);
  at[4] = 0;
  at[5] = static_cast<std::uint8_t>(fast_counter);
  at[6] = static_cast<std::uint8_t>(fast_counter >> 8U & 1U);
  used_ += 7;
}

void PacketWriter::cbr(std::uint8_t ratio) {
  std::uint8_t* at = room();
  at[0] = extended;
  at[1] = 0x03;
  at[2] = ratio;
  at[3] = 0;
  used_ += 4;
}

void PacketWriter::mode_exec_64bit() {
  std::uint8_t* at = room();
  at[0] = 0x99;
  at[1] = 0x01; // leaf MODE.Exec, CS.L
  used_ += 2;
}

void PacketWriter::pgd_without_ip() {
  *room() = static_cast<std::uint8_t>(IpPacket::tip_pgd);
  ++used_;
}

} // namespace ptlens::ptsim
