// When trace bytes become records.
#include "aux_buffer.hpp"

namespace ptlens::ptsim {

AuxBuffer::AuxBuffer(PacketWriter& packets, const Clock& clock, PerfDataWriter& file,
                     std::uint64_t size)
    : packets_(&packets), clock_(&clock), file_(&file), size_(size) {}

void AuxBuffer::after_packets() {
  if (packets_->bytes().size() >= size_ / 2) {
    flush();
  }
}

void AuxBuffer::hardware_stopped() {
  const std::uint64_t total = packets_->total();
  if (total > announced_) {
    file_->aux(clock_->ns(), announced_, total - announced_);
    announced_ = total;
  }
}

void AuxBuffer::flush() {
  hardware_stopped();
  const std::vector<std::uint8_t> bytes = packets_->take();
  if (!bytes.empty()) {
    file_->trace(bytes, written_, clock_->tsc());
    written_ += bytes.size();
  }
}

} // namespace ptlens::ptsim
