// The files perf-cpuN.dat of a uftrace folder: what the kernel reported about the program's threads
// on one CPU. They contain records of perf_event_open(2), without a header, each with the trailer
// {u32 pid, u32 tid, u64 time} (utils/perf.c). The clock is that of the function records.
#pragma once

#include "base/error.hpp"
#include "perfdata/contents/side_band.hpp"

#include <string>

namespace ptlens::uftrace {

// Adds switches, names, exits and losses of threads. Errors: not_found, no_rights; bad_input where
// a record is longer than the file or shorter than its fields.
[[nodiscard]] Result<void> read_scheduling(const std::string& path, std::int32_t cpu,
                                           perfdata::SideBand& side_band);

} // namespace ptlens::uftrace
