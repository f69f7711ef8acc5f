// The code that is mapped in each process at each time, from MMAP, FORK, EXIT and COMM(exec)
// records. A fork copies the parent's mappings, exec drops them, and a new mapping hides the
// mappings that it overlaps from its time on.
#pragma once

#include "perfdata/recording.hpp"
#include "symbols/binary_finder.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace ptlens::symbols {

struct MappedCode {
  std::uint64_t start = 0; // process addresses [start, end)
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0; // of `start`
  std::uint64_t bias = 0;        // process address - ELF virtual address, modulo 2^64
  std::string path = {};         // as recorded
  std::vector<std::uint8_t> build_id = {};
  std::shared_ptr<const Binary> binary = {}; // nullptr where the file was not found
};

// The mappings of one process during one time interval, ordered by start, without overlaps.
struct AddressSpaceVersion {
  std::uint64_t from_ns = 0;
  std::uint64_t until_ns = UINT64_MAX; // start of the next version
  std::uint64_t serial = 0;            // unique among all processes and versions
  std::vector<MappedCode> code = {};

  [[nodiscard]] const MappedCode* find(std::uint64_t address) const;
};

class AddressSpaces {
public:
  // `kernel`: the kernel's code, which all processes share; nullptr where it is not available.
  AddressSpaces(const perfdata::Recording& recording, BinaryFinder& binaries,
                const std::shared_ptr<const Binary>& kernel = nullptr);

  // Returns the version in force at `time_ns`: the last one that began at or before it, else the
  // first one. A process without mappings gets an empty version. The kernel has pid -1.
  [[nodiscard]] const AddressSpaceVersion& at(std::int32_t pid, std::uint64_t time_ns) const;

  // Returns the time in ns before which at() gives the same code for the process as in `other`,
  // with the same serial. That was made from more records of the same recording.
  [[nodiscard]] std::uint64_t agrees_before(const AddressSpaces& other, std::int32_t pid) const;

  // Returns every binary that was found, once for each path under which it was mapped.
  [[nodiscard]] std::vector<const MappedCode*> binaries() const;

private:
  std::map<std::int32_t, std::vector<AddressSpaceVersion>> versions_;
  AddressSpaceVersion empty_;
};

} // namespace ptlens::symbols
