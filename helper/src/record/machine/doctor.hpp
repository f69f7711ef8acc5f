// What this machine can measure, and the exact command for each thing that is missing. The doctor
// only reads; it changes nothing.
#pragma once

#include "record/machine/finding.hpp"

#include <string>
#include <vector>

namespace ptlens::record {

struct Diagnosis {
  std::string backend; // the best backend that works now: "intel_pt", "uprobe", "uftrace" or "none"
  std::vector<Finding> findings;
};

struct Checkup {
  std::string perf = {};   // path; empty: from PATH
  std::string binary = {}; // check its debug information; empty: none
  std::string folder = {}; // where recordings would go; empty: the working directory
  std::string root = {};   // prefix of every path in /proc, /sys and /boot: another machine's files
};

// Returns the findings in the order in which a user should fix them.
[[nodiscard]] Diagnosis diagnose(const Checkup& checkup);

} // namespace ptlens::record
