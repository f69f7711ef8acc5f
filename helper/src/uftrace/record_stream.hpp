// The records of one thread, from its file TID.dat: entries and exits of functions, in order of
// time, 16 bytes each (struct uftrace_record of uftrace.h), some with data behind them.
//
// The file does not contain the length of recorded arguments and return values: uftrace derives it
// from the options of the recording and from debug information. Here the next record is found
// instead: it starts at a multiple of 8 bytes, and it is the first place where time, depth and
// function fit what the thread has open.
#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ptlens::uftrace {

struct Record {
  enum class Kind : std::uint8_t {
    entry,
    exit,
    lost,  // records are missing here; `address` is their number, and there is no time
    event, // `address` is its number (enum uftrace_event_id)
  };
  Kind kind = Kind::entry;
  std::uint16_t depth = 0; // calls that are open, without this one
  std::uint64_t time_ns = 0;
  std::uint64_t address = 0; // an address in the function
};

class RecordStream {
public:
  // `bytes`: the whole file. Must outlive the object.
  RecordStream(std::span<const std::byte> bytes, std::string path)
      : bytes_(bytes), path_(std::move(path)) {}

  // Reads the next record. Returns false at the end. Errors: bad_input with the offset of a record
  // that is cut off, or is none.
  [[nodiscard]] Result<bool> next(Record& record);

  [[nodiscard]] std::uint64_t position() const { return position_; }

private:
  struct Raw {
    Record record;
    bool valid = false;
    bool more = false; // data follows
  };

  [[nodiscard]] Raw raw_at(std::uint64_t offset) const;
  [[nodiscard]] bool follows(std::uint64_t offset) const;
  [[nodiscard]] Result<std::uint64_t> end_of_values(std::uint64_t offset) const;
  [[nodiscard]] Result<std::uint64_t> end_of_event(std::uint64_t offset) const;
  void apply(const Record& record);

  std::span<const std::byte> bytes_;
  std::string path_;
  std::uint64_t position_ = 0;
  std::uint64_t latest_ns_ = 0;
  std::vector<std::uint64_t> open_; // functions, by depth
};

} // namespace ptlens::uftrace
