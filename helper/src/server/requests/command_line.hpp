// The command line that answers the same question as a request.
#pragma once

#include "measure/measurement.hpp"
#include "measure/selection/selection.hpp"
#include "server/requests/requests.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ptlens::server {

struct CommandSubject {
  const char* command = ""; // of ptlens: "report"
  const OpenRequest* source = nullptr;
  std::optional<FunctionSelector> asked;      // absent: all functions
  std::optional<stacks::FunctionId> function; // that it names; absent: several
};

// Returns the arguments, the program first.
[[nodiscard]] std::vector<std::string> command_line(const measure::Measurement& measurement,
                                                    const CommandSubject& subject,
                                                    const measure::Selection& selection);

} // namespace ptlens::server
