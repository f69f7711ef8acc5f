// What this machine can measure, and the exact command for what it lacks. Reads only; changes
// nothing.
#pragma once

#include "base/words.hpp"

#include <string>
#include <vector>

namespace ptlens::record {

struct Finding {
  enum class State { fine, limited, missing };
  std::string id = {};    // stable, e.g. "intel_pt", "perf", "paranoid"
  std::string title = {}; // "Intel Processor Trace"
  State state = State::fine;
  std::string detail = {};    // what was found
  std::string why = {};       // why it matters
  std::string remedy = {};    // the exact command, or what to do; empty when fine
  std::string temporary = {}; // command that mends it until the next start; empty: there is none
  std::string permanent = {}; // command that mends it for good; empty: there is none
};

struct Diagnosis {
  std::string backend; // best backend that would work now: "intel_pt", "uprobe" or "none"
  std::vector<Finding> findings;
};

struct Checkup {
  std::string perf = {};   // path, empty: from PATH
  std::string binary = {}; // whose debug information to look at; empty: none
  std::string folder = {}; // where recordings would go; empty: the working directory
  std::string root = {};   // before every path of /proc, /sys and /boot: another machine's files
  Words say = {};          // titles, what was found and why it matters; never commands
};

[[nodiscard]] Diagnosis diagnose(const Checkup& checkup);

} // namespace ptlens::record
