// Packets by libipt's packet decoder; IP decompression by SDM vol. 3, table "IP compression".
#include "flow/packet_cursor.hpp"

namespace ptlens::flow {

PacketCursor::PacketCursor(const pt_config& config, const ClockConfig& clock)
    : decoder_(pt_pkt_alloc_decoder(&config)), clock_(clock) {
  if (decoder_) {
    pt_pkt_sync_set(decoder_.get(), 0);
  }
}

void PacketCursor::resolve_ip(const pt_packet_ip& payload, Packet& seen) {
  constexpr std::uint64_t low_16 = 0xffff;
  constexpr std::uint64_t low_32 = 0xffffffff;
  constexpr std::uint64_t low_48 = 0xffffffffffff;
  switch (payload.ipc) {
  case pt_ipc_suppressed:
    return;
  case pt_ipc_update_16:
    last_ip_ = (last_ip_ & ~low_16) | (payload.ip & low_16);
    break;
  case pt_ipc_update_32:
    last_ip_ = (last_ip_ & ~low_32) | (payload.ip & low_32);
    break;
  case pt_ipc_update_48:
    last_ip_ = (last_ip_ & ~low_48) | (payload.ip & low_48);
    break;
  case pt_ipc_sext_48:
    last_ip_ = payload.ip & low_48;
    if ((last_ip_ >> 47U) != 0) {
      last_ip_ |= ~low_48;
    }
    break;
  case pt_ipc_full:
    last_ip_ = payload.ip;
    break;
  default:
    return;
  }
  seen.has_ip = true;
  seen.ip = last_ip_;
}

void PacketCursor::update(const pt_packet& packet, Packet& seen) {
  switch (packet.type) {
  case ppt_psb:
    last_ip_ = 0;
    break;
  case ppt_fup:
  case ppt_tip:
  case ppt_tip_pge:
  case ppt_tip_pgd:
    resolve_ip(packet.payload.ip, seen);
    flow_time_ = clock_.now();
    break;
  case ppt_tnt_8:
  case ppt_tnt_64:
    seen.bits = packet.payload.tnt.payload;
    seen.bit_count = packet.payload.tnt.bit_size;
    flow_time_ = clock_.now();
    break;
  case ppt_psbend:
    flow_time_ = clock_.now();
    break;
  case ppt_ptw:
    seen.binds_fup = packet.payload.ptw.ip != 0;
    break;
  case ppt_exstop:
    seen.binds_fup = packet.payload.exstop.ip != 0;
    break;
  case ppt_mode:
    seen.binds_fup = packet.payload.mode.leaf == pt_mol_tsx;
    break;
  case ppt_tsc:
    clock_.on_tsc(packet.payload.tsc.tsc);
    break;
  case ppt_tma:
    clock_.on_tma(packet.payload.tma.ctc, packet.payload.tma.fc);
    break;
  case ppt_mtc:
    clock_.on_mtc(packet.payload.mtc.ctc);
    break;
  case ppt_cyc:
    clock_.on_cyc(packet.payload.cyc.value);
    break;
  case ppt_cbr:
    clock_.on_cbr(packet.payload.cbr.ratio);
    break;
  case ppt_ovf:
    last_ip_ = 0;
    clock_.on_overflow();
    break;
  default:
    break;
  }
}

std::optional<PacketCursor::Packet> PacketCursor::next() {
  if (!decoder_) {
    return std::nullopt;
  }
  for (;;) {
    pt_packet packet;
    const int size = pt_pkt_next(decoder_.get(), &packet, sizeof packet);
    if (size < 0) {
      if (size == -pte_eos) {
        return std::nullopt;
      }
      ++bad_packets_;
      if (pt_pkt_sync_forward(decoder_.get()) < 0) {
        return std::nullopt;
      }
      pt_pkt_get_offset(decoder_.get(), &offset_);
      continue;
    }
    Packet seen;
    seen.type = packet.type;
    seen.offset = offset_;
    seen.end = offset_ + static_cast<std::uint64_t>(size);
    offset_ = seen.end;
    update(packet, seen);
    return seen;
  }
}

void PacketCursor::advance_to(std::uint64_t offset) {
  while (offset_ < offset && next()) {
  }
}

} // namespace ptlens::flow
