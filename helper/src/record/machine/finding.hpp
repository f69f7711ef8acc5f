// One finding of the doctor: a thing that measuring needs, and how to fix it.
#pragma once

#include <string>

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

} // namespace ptlens::record
