// Packet bytes by libipt's encoder.
#include "packet_writer.hpp"

#include <intel-pt.h>

#include <utility>

namespace ptlens::ptsim {
namespace {

constexpr std::size_t largest_packet = 64;

pt_packet packet_of(pt_packet_type type) {
  pt_packet packet{};
  packet.type = type;
  return packet;
}

pt_packet_type type_of(IpPacket packet) {
  switch (packet) {
  case IpPacket::fup:
    return ppt_fup;
  case IpPacket::tip:
    return ppt_tip;
  case IpPacket::tip_pge:
    return ppt_tip_pge;
  case IpPacket::tip_pgd:
    return ppt_tip_pgd;
  }
  return ppt_invalid;
}

} // namespace

void PacketWriter::FreeEncoder::operator()(pt_encoder* encoder) const {
  pt_free_encoder(encoder);
}

PacketWriter::PacketWriter() : scratch_(largest_packet) {
  pt_config config{};
  pt_config_init(&config);
  config.begin = scratch_.data();
  config.end = scratch_.data() + scratch_.size();
  encoder_.reset(pt_alloc_encoder(&config));
}

PacketWriter::~PacketWriter() = default;

std::vector<std::uint8_t> PacketWriter::take() {
  return std::exchange(bytes_, {});
}

void PacketWriter::append(const pt_packet& packet) {
  pt_enc_sync_set(encoder_.get(), 0);
  const int size = pt_enc_next(encoder_.get(), &packet);
  if (size > 0) {
    bytes_.insert(bytes_.end(), scratch_.begin(), scratch_.begin() + size);
    total_ += static_cast<std::uint64_t>(size);
  }
}

void PacketWriter::psb() {
  append(packet_of(ppt_psb));
  last_ip_ = 0;
  has_last_ip_ = false;
}

void PacketWriter::psbend() {
  append(packet_of(ppt_psbend));
}

void PacketWriter::tsc(std::uint64_t tsc) {
  pt_packet packet = packet_of(ppt_tsc);
  packet.payload.tsc.tsc = tsc & ((std::uint64_t{1} << 56) - 1);
  append(packet);
}

void PacketWriter::tma(std::uint16_t ctc, std::uint16_t fast_counter) {
  pt_packet packet = packet_of(ppt_tma);
  packet.payload.tma.ctc = ctc;
  packet.payload.tma.fc = fast_counter;
  append(packet);
}

void PacketWriter::cbr(std::uint8_t ratio) {
  pt_packet packet = packet_of(ppt_cbr);
  packet.payload.cbr.ratio = ratio;
  append(packet);
}

void PacketWriter::mtc(std::uint8_t ctc) {
  pt_packet packet = packet_of(ppt_mtc);
  packet.payload.mtc.ctc = ctc;
  append(packet);
}

void PacketWriter::cyc(std::uint64_t cycles) {
  pt_packet packet = packet_of(ppt_cyc);
  packet.payload.cyc.value = cycles;
  append(packet);
}

void PacketWriter::mode_exec_64bit() {
  pt_packet packet = packet_of(ppt_mode);
  packet.payload.mode.leaf = pt_mol_exec;
  packet.payload.mode.bits.exec = pt_set_exec_mode(ptem_64bit);
  append(packet);
}

void PacketWriter::tnt8(std::uint8_t bits, std::uint8_t count) {
  pt_packet packet = packet_of(ppt_tnt_8);
  packet.payload.tnt.bit_size = count;
  packet.payload.tnt.payload = bits;
  append(packet);
}

void PacketWriter::ip(IpPacket kind, std::uint64_t address) {
  pt_packet packet = packet_of(type_of(kind));
  const std::uint64_t changed = address ^ last_ip_;
  if (!has_last_ip_ || changed >> 32 != 0) {
    packet.payload.ip.ipc = pt_ipc_sext_48;
    packet.payload.ip.ip = address & ((std::uint64_t{1} << 48) - 1);
  } else if (changed >> 16 != 0) {
    packet.payload.ip.ipc = pt_ipc_update_32;
    packet.payload.ip.ip = address & ((std::uint64_t{1} << 32) - 1);
  } else {
    packet.payload.ip.ipc = pt_ipc_update_16;
    packet.payload.ip.ip = address & ((std::uint64_t{1} << 16) - 1);
  }
  last_ip_ = address;
  has_last_ip_ = true;
  append(packet);
}

void PacketWriter::pgd_without_ip() {
  pt_packet packet = packet_of(ppt_tip_pgd);
  packet.payload.ip.ipc = pt_ipc_suppressed;
  append(packet);
}

} // namespace ptlens::ptsim
