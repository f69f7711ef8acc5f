#include "uftrace/record_stream.hpp"

#include "uftrace/text_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace ptlens::uftrace {
namespace {

constexpr std::uint64_t record_size = 16;
constexpr std::uint64_t word = 8;
constexpr std::uint64_t record_magic = 5;   // RECORD_MAGIC_V4
constexpr std::uint64_t most_values = 1024; // bytes: ARGBUF_SIZE
// No recording takes longer (39 hours): a later time is not the time of the next record.
constexpr std::uint64_t longest_ns = std::uint64_t{1} << 47U;
constexpr std::uint64_t last_user_address = std::uint64_t{1} << 47U;
constexpr std::uint64_t first_user_address = 4096;

} // namespace

RecordStream::Raw RecordStream::raw_at(std::uint64_t offset) const {
  Raw raw;
  if (bytes_.size() < record_size || offset > bytes_.size() - record_size) {
    return raw;
  }
  std::uint64_t fields = 0;
  std::memcpy(&raw.record.time_ns, bytes_.data() + offset, word);
  std::memcpy(&fields, bytes_.data() + offset + word, word);
  // From the lowest bit on: type 2, more 1, magic 3, depth 10, address 48.
  raw.record.kind = static_cast<Record::Kind>(fields & 3U);
  raw.more = (fields >> 2U & 1U) != 0;
  raw.valid = (fields >> 3U & 7U) == record_magic;
  raw.record.depth = fields >> 6U & 0x3ffU;
  raw.record.address = fields >> 16U;
  return raw;
}

// Returns whether a record at the offset fits what is open.
bool RecordStream::follows(std::uint64_t offset) const {
  const Raw raw = raw_at(offset);
  const Record& record = raw.record;
  if (!raw.valid) {
    return false;
  }
  if (record.kind == Record::Kind::lost) {
    return record.time_ns == 0 && record.depth == 0 && !raw.more;
  }
  constexpr std::uint64_t event_before_ns = 1; // an event has the time before its function's
  if (record.time_ns + event_before_ns < latest_ns_ || record.time_ns - latest_ns_ > longest_ns) {
    return false;
  }
  switch (record.kind) {
  case Record::Kind::entry:
    return record.depth <= open_.size() && record.address >= first_user_address &&
           record.address < last_user_address;
  case Record::Kind::exit:
    return record.depth < open_.size() && open_[record.depth] == record.address;
  default:
    return record.depth == 0;
  }
}

// Returns the end of the arguments or return values that begin at the offset.
Result<std::uint64_t> RecordStream::end_of_values(std::uint64_t offset) const {
  for (std::uint64_t end = offset; end <= offset + most_values; end += word) {
    if (end == bytes_.size()) {
      return end;
    }
    if (!follows(end)) {
      continue;
    }
    const std::uint64_t next = end + record_size;
    if (raw_at(end).more || next == bytes_.size() || raw_at(next).valid) {
      return end;
    }
  }
  return std::unexpected(
      damaged(path_, offset, "no record follows the arguments or return values that begin here"));
}

// Returns the end of the data of an event: u16 length, the data, padding to 8 bytes.
Result<std::uint64_t> RecordStream::end_of_event(std::uint64_t offset) const {
  std::uint16_t length = 0;
  if (bytes_.size() - offset < sizeof length) {
    return std::unexpected(damaged(path_, offset, "the data of the last event is cut off"));
  }
  std::memcpy(&length, bytes_.data() + offset, sizeof length);
  const std::uint64_t size = (length + sizeof length + word - 1) / word * word;
  if (size > bytes_.size() - offset) {
    return std::unexpected(damaged(path_, offset,
                                   fmt::format("the {} bytes of an event do not fit: {} remain",
                                               size, bytes_.size() - offset)));
  }
  return offset + size;
}

void RecordStream::apply(const Record& record) {
  if (record.kind == Record::Kind::entry) {
    open_.resize(record.depth, 0);
    open_.push_back(record.address);
  } else if (record.kind == Record::Kind::exit) {
    open_.resize(std::min<std::size_t>(open_.size(), record.depth));
  } else if (record.kind == Record::Kind::lost) {
    open_.clear();
  }
  latest_ns_ = std::max(latest_ns_, record.time_ns);
}

Result<bool> RecordStream::next(Record& record) {
  if (position_ == bytes_.size()) {
    return false;
  }
  const Raw raw = raw_at(position_);
  if (!raw.valid) {
    const bool cut_off = bytes_.size() - position_ < record_size;
    return std::unexpected(damaged(path_, position_,
                                   cut_off ? "the last record is cut off"
                                           : "this is not a record of uftrace: its magic number is "
                                             "wrong"));
  }
  std::uint64_t end = position_ + record_size;
  record = raw.record;
  apply(record);
  if (raw.more && record.kind != Record::Kind::lost) {
    const auto found = record.kind == Record::Kind::event ? end_of_event(end) : end_of_values(end);
    if (!found) {
      return std::unexpected(found.error());
    }
    end = *found;
  }
  position_ = end;
  return true;
}

} // namespace ptlens::uftrace
