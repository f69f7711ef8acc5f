// The fields in an event's samples, and the sample-id trailer of its other records
// (perf_event_attr::sample_id_all). Layouts: the comments of enum perf_event_type in
// <linux/perf_event.h>.
#pragma once

#include "perfdata/bytes/byte_reader.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace ptlens::perfdata {

struct SampleId { // the thread, CPU and time of a record; -1 and 0 where the record has none
  std::uint64_t time_ns = 0;
  std::int32_t pid = -1;
  std::int32_t tid = -1;
  std::int32_t cpu = -1;
};

struct SampleFields {
  SampleId id;
  std::uint64_t ip = 0;
  std::span<const std::byte> raw;
  std::span<const std::byte> chain;
  std::span<const std::byte> registers;
  std::span<const std::byte> user_stack;
};

struct SampleLayout {
  std::uint64_t sample_type = 0; // PERF_SAMPLE_*
  std::uint64_t read_format = 0; // PERF_FORMAT_*
  std::uint64_t registers = 0;   // sample_regs_user
  bool sample_id_all = false;

  // Returns the size in bytes of the trailer at the end of every kernel record that is not a
  // sample.
  [[nodiscard]] std::uint64_t trailer_size() const;
  // Return the position of the event's id: in bytes back from the end of the trailer, and in bytes
  // from the start of a sample's payload. Return nothing where the records have no id.
  [[nodiscard]] std::optional<std::uint64_t> id_from_end() const;
  [[nodiscard]] std::optional<std::uint64_t> id_from_start() const;

  // Reads the trailer. `reader` must be at its first byte.
  [[nodiscard]] SampleId read_trailer(ByteReader& reader) const;
  // Reads a sample up to its user stack. `reader` must be at the start of the record's payload.
  [[nodiscard]] SampleFields read_sample(ByteReader& reader) const;

private:
  [[nodiscard]] bool has(std::uint64_t bits) const { return (sample_type & bits) != 0; }
  void skip_read_values(ByteReader& reader) const;
  void read_user_state(ByteReader& reader, SampleFields& sample) const;
};

} // namespace ptlens::perfdata
