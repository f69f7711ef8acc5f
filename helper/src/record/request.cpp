#include "record/request.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <system_error>
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

std::vector<WantedFunction> Request::functions() const {
  std::vector<WantedFunction> wanted;
  if (names_function()) {
    wanted.push_back(
        {.name = function, .binary = binary, .address = address, .all = all, .origin = origin});
  }
  wanted.insert(wanted.end(), more_functions.begin(), more_functions.end());
  return wanted;
}

std::string Request::function_names() const {
  std::string names;
  for (const WantedFunction& wanted : functions()) {
    names += (names.empty() ? "" : ", ") + wanted.name;
  }
  return names;
}

void Request::set_functions(std::vector<WantedFunction> wanted) {
  more_functions.clear();
  if (wanted.empty()) {
    return;
  }
  function = std::move(wanted.front().name);
  binary = std::move(wanted.front().binary);
  address = wanted.front().address;
  all = wanted.front().all;
  origin = std::move(wanted.front().origin);
  more_functions.assign(std::make_move_iterator(wanted.begin() + 1),
                        std::make_move_iterator(wanted.end()));
}

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
  if (request.backend != "auto" && request.backend != "intel_pt" && request.backend != "uftrace" &&
      request.backend != "uprobe") {
    return bad_request(fmt::format("the backend {} does not exist", request.backend),
                       "use auto, intel_pt, uftrace or uprobe");
  }
  if (request.backend != "uftrace" && (request.shortest_ns != 0 || request.depth != 0)) {
    return bad_request("--min-latency and --depth belong to the uftrace backend",
                       "add --backend uftrace, or omit them");
  }
  constexpr std::uint64_t longest_filter_ns = 999'000'000'000;
  if (request.shortest_ns > longest_filter_ns) {
    return bad_request("--min-latency is longer than 999 s", "give a shorter time");
  }
  if (request.backend == "uftrace" && request.filter && !request.names_function()) {
    return bad_request("--filter records one function, and the request names none",
                       "add --function NAME");
  }
  if (!std::isfinite(request.budget) || request.budget <= 0 || request.budget > 100) {
    return bad_request("the budget is not a percentage above 0",
                       "give a number up to 100, for example --budget 5");
  }
  if (request.returns != "auto" && request.returns != "exit" && request.returns != "uretprobe") {
    return bad_request(fmt::format("calls cannot be ended by {}", request.returns),
                       "use auto, exit or uretprobe");
  }
  if (request.program.empty() &&
      !(request.working_directory.empty() && request.environment.empty())) {
    return bad_request(
        fmt::format("{} is for a program that is started, and this request records {}",
                    request.working_directory.empty() ? "--env" : "--cwd", target_text(request)),
        "omit it, or start the program: ptlens record … -- PROGRAM");
  }
  if (!request.binary.empty() && !request.names_function()) {
    return bad_request("--binary names the file of a function, and the request names no function",
                       "add --function NAME");
  }
  if (request.filter && !request.names_function()) {
    return bad_request("an address filter requires a function",
                       "add --function NAME, or omit --filter");
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
  if (!request.more_functions.empty() && request.filter) {
    return bad_request("an address filter traces one function, and the request names several",
                       "omit --filter: everything is then traced");
  }
  constexpr std::size_t most_functions = 64;
  if (request.more_functions.size() >= most_functions) {
    return bad_request(fmt::format("the request names {} functions, and a recording measures {}",
                                   request.more_functions.size() + 1, most_functions),
                       "record fewer functions at a time");
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

Result<void> check_backend(const Request& request, const std::string& backend, bool has_intel_pt) {
  if (backend == "uftrace" && (request.snapshot || request.kernel)) {
    return std::unexpected(Error{
        .kind = Error::Kind::unsupported,
        .message = request.kernel
                       ? "uftrace measures the program, not the kernel"
                       : "uftrace records whole runs, and the request asks for a snapshot",
        .remedy = request.kernel ? "omit --kernel"
                                 : "omit --backend uftrace to take the snapshot with probes"});
  }
  if (backend != "uprobe") {
    return {};
  }
  const std::array<std::pair<bool, const char*>, 3> of_intel_pt = {
      {{request.filter, "--filter"},
       {request.kernel, "--kernel"},
       {request.probe.value_or(false), "--probe"}}};
  for (const auto& [is_given, option] : of_intel_pt) {
    if (is_given) {
      return std::unexpected(Error{
          .kind = Error::Kind::unsupported,
          .message = fmt::format(
              "{} requires Intel Processor Trace, and this recording uses probes", option),
          .remedy = has_intel_pt ? fmt::format("omit {}, or record with --backend intel_pt", option)
                                 : fmt::format("omit {}: this machine has no Intel Processor Trace",
                                               option)});
    }
  }
  return {};
}

std::string new_folder_name() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  const std::string stem = fmt::format("ptlens-{:%Y%m%d-%H%M%S}", local);
  std::string name = stem;
  std::error_code ignored;
  for (int attempt = 2; std::filesystem::exists(name, ignored); ++attempt) {
    name = fmt::format("{}-{}", stem, attempt);
  }
  return name;
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
