// What this machine can measure, and the exact command for what it lacks. Reads only; changes
// nothing.
#pragma once

#include <string>
#include <vector>

namespace ptlens::record {

struct Finding {
  enum class State { fine, limited, missing };
  std::string id = {};    // stable, e.g. "intel_pt", "perf", "paranoid"
  std::string title = {}; // "Intel Processor Trace"
  State state = State::fine;
  std::string detail = {}; // what was found
  std::string why = {};    // why it matters
  std::string remedy = {}; // the exact command, or what to do; empty when fine
};

struct Diagnosis {
  std::string backend; // best backend that would work now: "intel_pt", "uprobe" or "none"
  std::vector<Finding> findings;
};

[[nodiscard]] Diagnosis diagnose(const std::string& perf, const std::string& binary);

} // namespace ptlens::record
