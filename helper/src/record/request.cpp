#include "record/request.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

namespace ptlens::record {
namespace {

constexpr const char* one_target =
    "name exactly one of --pid, --tid, --cpu, --all-cpus and -- PROGRAM";

std::unexpected<Error> bad_request(std::string message, std::string remedy) {
  return std::unexpected(Error{
      .kind = Error::Kind::bad_input, .message = std::move(message), .remedy = std::move(remedy)});
}

} // namespace

Result<TargetKind> check_target(const Request& request) {
  const std::array<std::pair<bool, TargetKind>, 5> named = {
      {{request.pid.has_value(), TargetKind::process},
       {request.tid.has_value(), TargetKind::thread},
       {request.cpu.has_value(), TargetKind::cpu},
       {request.all_cpus, TargetKind::all_cpus},
       {!request.program.empty(), TargetKind::program}}};
  std::optional<TargetKind> only;
  for (const auto& [is_named, kind] : named) {
    if (is_named && only) {
      return bad_request("a recording has one target, and this request names several", one_target);
    }
    only = is_named ? kind : only;
  }
  if (!only) {
    return bad_request("the request names no target", one_target);
  }
  if (request.pid.value_or(1) <= 0 || request.tid.value_or(1) <= 0) {
    return bad_request("the number of a process or thread must be positive", "check the number");
  }
  if (request.cpu.value_or(0) < 0) {
    return bad_request("the number of a CPU must not be negative", "check the number");
  }
  return *only;
}

Result<TargetKind> check_request(const Request& request) {
  const auto target = check_target(request);
  if (!target) {
    return target;
  }
  if (!std::isfinite(request.duration_s) || request.duration_s < 0) {
    return bad_request("the duration is not a number of seconds",
                       "give a positive number, for example --duration 2");
  }
  if (request.backend != "auto" && request.backend != "intel_pt" && request.backend != "uprobe") {
    return bad_request(fmt::format("the backend {} does not exist", request.backend),
                       "use auto, intel_pt or uprobe");
  }
  if (!std::isfinite(request.budget) || request.budget <= 0 || request.budget > 100) {
    return bad_request("the budget is not a percentage above 0",
                       "give a number up to 100, for example --budget 5");
  }
  if (request.returns != "auto" && request.returns != "exit" && request.returns != "uretprobe") {
    return bad_request(fmt::format("calls cannot be ended by {}", request.returns),
                       "use auto, exit or uretprobe");
  }
  if (request.all && request.function.empty()) {
    return bad_request("--all measures every function of a name, and the request names no function",
                       "add --function NAME");
  }
  if (request.all && request.filter) {
    return bad_request("an address filter traces one function, and --all asks for several",
                       "omit --filter: everything is then traced, and `ptlens report --all` shows "
                       "all functions of the name");
  }
  if (request.slower_than_ns != 0 && !request.snapshot) {
    return bad_request("a slow call can only be caught by a snapshot", "add --snapshot");
  }
  if (request.slower_than_ns != 0 && !request.names_function()) {
    return bad_request("the request does not name the function whose slow call is to be caught",
                       "add --function NAME");
  }
  return target;
}

std::string target_text(const Request& request) {
  if (request.pid) {
    return fmt::format("process {}", *request.pid);
  }
  if (request.tid) {
    return fmt::format("thread {}", *request.tid);
  }
  if (request.cpu) {
    return fmt::format("CPU {}", *request.cpu);
  }
  return request.all_cpus ? "all CPUs" : "program " + request.program.front();
}

} // namespace ptlens::record
