// The argument vector of `perf record`, as pure functions of the request and the machine. Options:
// perf-record(1), perf-intel-pt(1).
#pragma once

#include "record/machine/machine.hpp"
#include "record/request.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptlens::record {

// The inputs besides the request.
struct PerfSetting {
  std::string perf = {};      // path
  std::string data_file = {}; // absolute
  std::string control = {};   // PerfControl::argument()
  bool copy_kernel = false;   // data_file becomes a folder with a copy of the kernel's code
  bool waits = false;         // record the tracepoints of waits too
};

// `address_filter` is the value of perf's --filter, or empty.
[[nodiscard]] std::vector<std::string> intel_pt_command(const Request& request,
                                                        const Machine& machine,
                                                        const PerfSetting& setting,
                                                        const std::string& address_filter);

// Returns the event with the packets that the processor can send, for example
// "intel_pt/cyc,mtc_period=3,noretcomp=1/u".
[[nodiscard]] std::string intel_pt_event(const Request& request, const Machine& machine);

} // namespace ptlens::record
