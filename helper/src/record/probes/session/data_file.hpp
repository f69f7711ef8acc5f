// Writes a perf.data file (tools/perf/Documentation/perf.data-file-format.txt).
#pragma once

#include "base/error.hpp"
#include "record/probes/events/hit_events.hpp"
#include "record/processes/descriptor.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace ptlens::record {

class DataFile {
public:
  // Creates the file. Errors: no_rights, failed with errno.
  static Result<DataFile> create(const std::string& path);

  // Adds a record. Errors of writing are reported by finish().
  void append(std::span<const std::byte> record);

  struct End {
    std::span<const HitEvents::Described> events = {};
    std::map<std::string, std::vector<std::uint8_t>> build_ids = {}; // by path
    std::vector<std::string> command_line = {};
  };
  // Writes what surrounds the records. Errors: failed when the disk is full.
  Result<void> finish(const End& end);

private:
  DataFile(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}
  void flush();
  void write_at(std::span<const std::byte> bytes, std::uint64_t offset);

  std::string path_;
  Descriptor file_;
  std::vector<std::byte> waiting_;
  std::uint64_t written_ = 0; // bytes of records in the file
  int failed_ = 0;            // errno
};

} // namespace ptlens::record
