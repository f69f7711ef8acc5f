#include "record/probes/session/started_program.hpp"

#include <chrono>
#include <csignal>

namespace ptlens::record {

Result<std::optional<Child>> start_program(const Request& request) {
  if (request.program.empty()) {
    return std::nullopt;
  }
  auto started = Child::start(ChildOptions{.arguments = request.program,
                                           .working_directory = request.working_directory,
                                           .environment = request.environment,
                                           .held = true});
  if (!started) {
    return std::unexpected(started.error());
  }
  return std::move(*started);
}

void end_program(Child& program, SessionEnd& end) {
  constexpr std::chrono::milliseconds patience(3000); // for it to end on request
  if (!program.ended()) {
    program.signal(SIGTERM);
    end.forced = !program.wait(patience);
    program.kill();
  }
  program.read_output();
  end.wait_status = program.ended().value_or(0);
  end.output = program.output();
  end.last_line = program.last_line();
}

} // namespace ptlens::record
