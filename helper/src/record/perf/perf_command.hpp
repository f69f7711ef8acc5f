// The argument vector of `perf record`, from what was asked and what the machine has: pure
// functions. Options: perf-record(1), perf-intel-pt(1).
#pragma once

#include "record/machine/machine.hpp"
#include "record/recorder.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptlens::record {

// What both backends need besides the request.
struct PerfSetting {
  std::string perf = {};      // path
  std::string data_file = {}; // absolute
  std::string control = {};   // PerfControl::argument()
  bool keep_kernel = false;   // data_file becomes a folder with a copy of the kernel's code
};

// An event of ours and the condition under which the kernel keeps its hits, empty: always.
struct ProbeEvent {
  std::string name = {};   // "group/event"
  std::string filter = {}; // an expression over its fields (Documentation/trace/events.rst)
  std::uint64_t id = 0;    // in tracefs
};

[[nodiscard]] std::vector<std::string> uprobe_command(const Request& request,
                                                      const Machine& machine,
                                                      const PerfSetting& setting,
                                                      const std::vector<ProbeEvent>& events);

// `address_filter`: value of perf's --filter, empty for none.
[[nodiscard]] std::vector<std::string> intel_pt_command(const Request& request,
                                                        const Machine& machine,
                                                        const PerfSetting& setting,
                                                        const std::string& address_filter);

// "intel_pt/cyc,mtc_period=3,noretcomp=1/u": the event and the packets that the processor can send.
[[nodiscard]] std::string intel_pt_event(const Request& request, const Machine& machine);

} // namespace ptlens::record
