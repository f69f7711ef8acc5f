// The command line of `uftrace record`.
#pragma once

#include "record/request.hpp"
#include "record/uftrace/program_hooks.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ptlens::record {

struct UftraceSetting {
  std::string uftrace; // path of the program
  std::string folder;  // that it writes, which does not exist yet
  std::string log;     // file for what it says
  std::vector<std::string>
      only; // linkage names: only these functions and what they call; empty: all
};

[[nodiscard]] std::vector<std::string>
uftrace_command(const Request& request, const ProgramHooks& hooks, const UftraceSetting& setting);

// Returns a POSIX extended regular expression that matches only the name.
[[nodiscard]] std::string exact_pattern(std::string_view name);

} // namespace ptlens::record
