// What this machine can measure, and the exact command for each thing that is missing. The doctor
// only reads; it changes nothing.
#pragma once

#include <string>
#include <vector>

namespace ptlens::record {

struct Finding {
  enum class State { fine, limited, missing };
  std::string id = {};    // stable, for example "intel_pt", "perf", "paranoid"
  std::string title = {}; // "Intel Processor Trace"
  State state = State::fine;
  std::string detail = {};    // what was found
  std::string why = {};       // why it matters
  std::string remedy = {};    // the exact command, or what to do; empty when the state is fine
  std::string temporary = {}; // command that fixes it until the next reboot; empty: none exists
  std::string permanent = {}; // command that fixes it permanently; empty: none exists
};

struct Diagnosis {
  std::string backend; // the best backend that works now: "intel_pt", "uprobe" or "none"
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
