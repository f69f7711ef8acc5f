// What a process was before its recording began, as records of a perf.data file: the names of its
// threads and the code that it has mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::record {

// Returns the record of each executable mapping in the text of a /proc/PID/maps.
[[nodiscard]] std::vector<std::vector<std::byte>> mapping_records(std::int32_t pid,
                                                                  std::string_view maps);

[[nodiscard]] std::vector<std::byte> name_record(std::int32_t pid, std::int32_t tid,
                                                 const std::string& name);

// Returns the records of a process and its threads, without those that end meanwhile.
[[nodiscard]] std::vector<std::vector<std::byte>> process_records(std::int32_t pid);

// Return the numbers of the threads of a process, and of all processes.
[[nodiscard]] std::vector<std::int32_t> threads_of(std::int32_t pid);
[[nodiscard]] std::vector<std::int32_t> all_processes();

} // namespace ptlens::record
