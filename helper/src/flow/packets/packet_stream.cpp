// Hands a packet out once a later time is known.
#include "flow/packets/packet_stream.hpp"

#include <algorithm>
#include <limits>

namespace ptlens::flow {
namespace {

// The limit of the search for the next timing packet. With MTC alone it comes within microseconds.
constexpr std::size_t most_packets_ahead = 1U << 16U;
constexpr std::uint64_t has_latest = std::numeric_limits<std::uint64_t>::max(); // in ticks_

bool has_address(PacketKind kind) {
  return kind == PacketKind::tip || kind == PacketKind::pge || kind == PacketKind::pgd ||
         kind == PacketKind::fup;
}

} // namespace

PacketStream::PacketStream(const TracePiece& piece, const ClockConfig& clock,
                           const perfdata::TimeConversion& conversion, std::uint64_t start)
    : parser_(piece.trace, start), clock_config_(clock), conversion_(conversion),
      announced_(piece.announcements), clock_(clock), converted_ns_(conversion.to_ns(0)),
      offset_(start) {}

std::uint64_t PacketStream::to_ns(std::uint64_t tsc) {
  if (tsc != converted_tsc_) {
    converted_tsc_ = tsc;
    converted_ns_ = conversion_.to_ns(tsc);
  }
  return converted_ns_;
}

bool PacketStream::fill() {
  const auto passed = static_cast<std::ptrdiff_t>(next_);
  packets_.erase(packets_.begin(), packets_.begin() + passed);
  ticks_.erase(ticks_.begin(), ticks_.begin() + passed);
  placed_ -= next_;
  next_ = 0;
  while (placed_ == 0) {
    if (parse_next()) {
      while (packets_.size() - placed_ > most_packets_ahead) {
        place_first(std::nullopt);
      }
      continue;
    }
    if (packets_.empty()) {
      if (const auto now = clock_.now()) {
        now_ns_ = to_ns(*now);
        has_time_ = true;
      }
      return false;
    }
    while (placed_ < packets_.size()) {
      place_first(std::nullopt);
    }
  }
  return true;
}

// Returns false where nothing was left to parse.
bool PacketStream::parse_next() {
  const std::uint64_t offset = parser_.offset();
  const RawPacket raw = parser_.next();
  if (raw.kind == RawKind::cut) {
    parser_.skip_to_end();
  } else if (raw.kind == RawKind::bad) {
    bad_packets_.push_back(offset);
    parser_.skip_to_psb();
  } else {
    parse(raw, offset);
  }
  return parser_.offset() != offset;
}

void PacketStream::go_on_from(const Exact& exact) {
  parser_.set(exact.parser);
  clock_ = exact.clock;
  last_ip_ = exact.last_ip;
  after_cycles_ = exact.after_cycles;
  if (exact.passed != nullptr) {
    last_flow_ns_ = exact.flow_ns;
    now_ns_ = exact.flow_ns;
    latest_ns_ = exact.flow_ns;
    has_time_ = true;
    offset_ = parser_.offset_of(exact.passed);
  }
}

void PacketStream::parse(const RawPacket& raw, std::uint64_t offset) {
  switch (raw.kind) {
  case RawKind::cyc:
    clock_.on_cyc(raw.payload);
    time_passed();
    after_cycles_ = true;
    cycles_seen_ = true;
    return;
  case RawKind::tnt:
    add(raw, PacketKind::tnt, offset);
    break;
  case RawKind::tip:
    add(raw, PacketKind::tip, offset);
    break;
  case RawKind::pge:
    add(raw, PacketKind::pge, offset);
    break;
  case RawKind::pgd:
    add(raw, PacketKind::pgd, offset);
    break;
  case RawKind::fup:
    add(raw, PacketKind::fup, offset);
    break;
  case RawKind::psb:
    begin_anew();
    add(raw, PacketKind::psb, offset);
    break;
  case RawKind::psbend:
    add(raw, PacketKind::psbend, offset);
    break;
  case RawKind::overflow:
    last_ip_ = 0;
    clock_.on_overflow();
    add(raw, PacketKind::overflow, offset);
    break;
  case RawKind::mode_tsx:
  case RawKind::ptwrite:
  case RawKind::exstop:
    if (raw.count != 0) {
      add(raw, PacketKind::binding, offset);
    }
    break;
  case RawKind::mtc:
  case RawKind::tsc:
    clock_.take(raw);
    time_passed();
    break;
  default:
    clock_.take(raw);
    break;
  }
  after_cycles_ = false;
}

void PacketStream::begin_anew() {
  last_ip_ = 0;
  clock_ = TraceClock(clock_config_);
  cycles_seen_ = false;
  last_flow_ns_.reset();
}

void PacketStream::add(const RawPacket& raw, PacketKind kind, std::uint64_t offset) {
  Packet& packet = packets_.emplace_back();
  packet.kind = kind;
  packet.offset = offset;
  packet.size = raw.size;
  if (kind == PacketKind::tnt) {
    packet.value = raw.payload;
    packet.bit_count = raw.count;
    packet.room = tnt_room(raw.size);
  } else if (has_address(kind) && raw.count != 0) {
    last_ip_ = decompressed(raw, last_ip_);
    packet.has_ip = true;
    packet.value = last_ip_;
  }
  const auto now = clock_.now();
  if (!now) {
    ticks_.push_back(has_latest);
    placed_ += placed_ + 1 == packets_.size() ? 1 : 0;
    return;
  }
  packet.timed = true;
  packet.earliest_ns = to_ns(*now);
  packet.reported_ns = last_flow_ns_.value_or(packet.earliest_ns);
  if (kind != PacketKind::psb && kind != PacketKind::overflow && kind != PacketKind::binding) {
    last_flow_ns_ = packet.earliest_ns;
  }
  const bool exact = after_cycles_ || (clock_config_.every_cycle && cycles_seen_ &&
                                       kind != PacketKind::fup && kind != PacketKind::psbend);
  if (exact && clock_.is_certain()) {
    packet.latest_ns = packet.earliest_ns;
    ticks_.push_back(has_latest);
    placed_ += placed_ + 1 == packets_.size() ? 1 : 0;
  } else {
    ticks_.push_back(*now);
  }
}

// The clock was set: gives the packets before it their latest time.
void PacketStream::time_passed() {
  if (placed_ == packets_.size() || !clock_.is_certain()) {
    return;
  }
  const std::uint64_t now = clock_.now().value_or(0);
  while (placed_ < packets_.size() && (ticks_[placed_] < now || ticks_[placed_] == has_latest)) {
    place_first(to_ns(now));
  }
}

void PacketStream::place_first(std::optional<std::uint64_t> next_ns) {
  if (ticks_[placed_] != has_latest) {
    place(packets_[placed_], next_ns);
  }
  ++placed_;
}

// Returns the latest time at which the packet was sent: before the next timing packet, and before
// the kernel announced it, which is earlier where the processor slept or the trace ends. An
// announcement that is older than the packet has another clock, and says nothing. Where neither
// comes, as at the end of a snapshot, the next timing packet would have come after as long a time
// as the last one.
void PacketStream::place(Packet& packet, std::optional<std::uint64_t> next_ns) {
  if (next_ns) {
    timing_width_ns_ = *next_ns - packet.earliest_ns;
  }
  packet.latest_ns = next_ns.value_or(packet.earliest_ns + timing_width_ns_);
  while (!announced_.empty() && announced_.front().end < packet.end()) {
    announced_ = announced_.subspan(1);
  }
  if (!announced_.empty() && announced_.front().time_ns >= packet.earliest_ns) {
    const std::uint64_t bound = announced_.front().time_ns;
    packet.latest_ns = next_ns ? std::min(packet.latest_ns, bound) : bound;
  }
}

} // namespace ptlens::flow
