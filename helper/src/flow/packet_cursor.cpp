// Packets by libipt's packet decoder; IP decompression by SDM vol. 3, table "IP compression".
#include "flow/packet_cursor.hpp"

#include <algorithm>
#include <utility>

namespace ptlens::flow {
namespace {

// How far ahead the next timing packet is looked for: with MTC alone it comes within microseconds.
constexpr std::size_t most_packets_ahead = 1U << 16U;

} // namespace

PacketCursor::PacketCursor(const pt_config& config, const ClockConfig& clock,
                           std::vector<Bound> bounds)
    : decoder_(pt_pkt_alloc_decoder(&config)), every_cycle_(clock.every_cycle),
      bounds_(std::move(bounds)), clock_(clock) {
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

void PacketCursor::update(const pt_packet& packet, Ahead& ahead) {
  Packet& seen = ahead.packet;
  ahead.exact = std::exchange(cycles_just_read_, packet.type == ppt_cyc) ||
                (every_cycle_ && packet.type != ppt_fup && packet.type != ppt_psbend);
  switch (packet.type) {
  case ppt_psb:
    last_ip_ = 0;
    break;
  case ppt_fup:
  case ppt_tip:
  case ppt_tip_pge:
  case ppt_tip_pgd:
    resolve_ip(packet.payload.ip, seen);
    break;
  case ppt_tnt_8:
  case ppt_tnt_64:
    seen.bits = packet.payload.tnt.payload;
    seen.bit_count = packet.payload.tnt.bit_size;
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

// One more packet into ahead_; false at the end.
bool PacketCursor::read() {
  for (;;) {
    pt_packet packet;
    const int size = pt_pkt_next(decoder_.get(), &packet, sizeof packet);
    if (size < 0) {
      if (size == -pte_eos) {
        return false;
      }
      ++bad_packets_;
      if (pt_pkt_sync_forward(decoder_.get()) < 0) {
        return false;
      }
      pt_pkt_get_offset(decoder_.get(), &read_offset_);
      continue;
    }
    Ahead& ahead = ahead_.emplace_back();
    ahead.packet.type = packet.type;
    ahead.packet.offset = read_offset_;
    read_offset_ += static_cast<std::uint64_t>(size);
    ahead.packet.end = read_offset_;
    update(packet, ahead);
    ahead.now = clock_.now();
    ahead.certain = clock_.is_certain();
    return true;
  }
}

// The first time that the packets ahead give beyond `now`; `now` where they give none.
std::uint64_t PacketCursor::next_time_after(std::uint64_t now) {
  for (;; ++timed_) {
    if (timed_ == ahead_.size() && (timed_ == most_packets_ahead || !read())) {
      return now;
    }
    if (ahead_[timed_].certain && ahead_[timed_].now > now) {
      return *ahead_[timed_].now;
    }
  }
}

// When the packet was sent at the latest: before the next timing packet, and before the kernel
// announced it, which comes first where the processor slept or the trace ends.
std::uint64_t PacketCursor::latest_for(const Packet& packet, std::uint64_t now) {
  const std::uint64_t next = next_time_after(now);
  while (next_bound_ < bounds_.size() && bounds_[next_bound_].end < packet.end) {
    ++next_bound_;
  }
  if (next_bound_ == bounds_.size()) {
    return next;
  }
  const std::uint64_t bound = std::max(bounds_[next_bound_].tsc, now);
  return next == now ? bound : std::min(next, bound);
}

void PacketCursor::place_in_time(Ahead& ahead) {
  Packet& packet = ahead.packet;
  switch (packet.type) {
  case ppt_tnt_8:
  case ppt_tnt_64:
  case ppt_tip:
  case ppt_tip_pge:
  case ppt_tip_pgd:
  case ppt_fup:
  case ppt_psbend:
    break;
  default:
    return;
  }
  if (ahead.now) {
    const std::uint64_t now = *ahead.now;
    packet.sent = TscInterval{now, ahead.exact && ahead.certain ? now : latest_for(packet, now)};
    packet.reported =
        last_flow_.sent ? TscInterval{last_flow_.sent->earliest, packet.sent->latest} : packet.sent;
  }
  if (packet.bit_count != 0 || (packet.type == ppt_tip && last_flow_.type != ppt_fup)) {
    last_decision_ = packet;
  } else if (packet.type == ppt_tip_pge) {
    last_enabling_ = packet;
  } else if (packet.type == ppt_tip_pgd) {
    last_disabling_ = packet;
  }
  last_flow_ = packet;
}

std::optional<PacketCursor::Packet> PacketCursor::next() {
  if (!decoder_ || (ahead_.empty() && !read())) {
    return std::nullopt;
  }
  Ahead ahead = ahead_.front();
  ahead_.pop_front();
  timed_ -= timed_ == 0 ? 0 : 1;
  place_in_time(ahead);
  now_ = ahead.now;
  offset_ = ahead.packet.end;
  return ahead.packet;
}

void PacketCursor::advance_to(std::uint64_t offset) {
  while (offset_ < offset && next()) {
  }
}

} // namespace ptlens::flow
