// When trace bytes become records.
#include "aux_buffer.hpp"

namespace ptlens::ptsim {

AuxBuffer::AuxBuffer(PacketWriter& packets, PerfDataWriter& file, std::uint64_t size)
    : packets_(&packets), file_(&file), size_(size) {}

void AuxBuffer::hardware_stopped(const Stamp& stamp, std::uint64_t flags) {
  const std::uint64_t total = packets_->total();
  if (total > announced_) {
    file_->aux(stamp, announced_, total - announced_, flags);
    announced_ = total;
  }
}

void AuxBuffer::flush(const Stamp& stamp, std::uint64_t tsc) {
  hardware_stopped(stamp);
  const std::vector<std::uint8_t> bytes = packets_->take();
  if (!bytes.empty()) {
    file_->trace(stamp.lane, bytes, written_, tsc);
    written_ += bytes.size();
  }
}

} // namespace ptlens::ptsim
