// When trace bytes become records.
#include "recording/aux_buffer.hpp"

#include <algorithm>
#include <span>

namespace ptlens::ptsim {

void AuxBuffer::wrap() {
  if (config_.snapshot && packets_->bytes().size() >= 2 * config_.size) {
    packets_->keep_last(config_.size);
  }
}

void AuxBuffer::hardware_stopped(const Stamp& stamp, std::uint64_t flags) {
  const std::uint64_t total = packets_->total();
  if (total == announced_ && flags == 0) {
    return;
  }
  if (config_.snapshot) {
    file_->aux(stamp, total % config_.size, config_.size, flags | PERF_AUX_FLAG_OVERWRITE);
  } else {
    file_->aux(stamp, announced_, total - announced_, flags);
  }
  announced_ = total;
}

void AuxBuffer::read(std::size_t lane, std::uint64_t tsc) {
  if (config_.snapshot) {
    return;
  }
  const std::vector<std::uint8_t> bytes = packets_->take(announced_ - written_);
  if (!bytes.empty()) {
    file_->trace(lane, bytes, written_, tsc);
    written_ += bytes.size();
  }
}

void AuxBuffer::snapshot(std::size_t lane, std::uint64_t tsc) {
  const std::uint64_t total = packets_->total();
  const bool filled = total >= config_.size;
  std::uint64_t size = filled ? config_.size : total - written_;
  if (config_.snapshot_size != 0) {
    size = std::min(size, config_.snapshot_size);
  }
  if (size == 0) {
    return;
  }
  packets_->keep_last(config_.size);
  const std::uint64_t end = filled ? total % config_.size + config_.size : total;
  file_->trace(lane, packets_->bytes().last(size), end - size, tsc);
  written_ = total;
}

} // namespace ptlens::ptsim
