// Makes a recording: checks the request, makes the directory, lets a backend measure, writes the
// manifest, and on failure takes away what it made.
#include "record/recorder.hpp"

#include "record/finish.hpp"
#include "record/machine/machine.hpp"
#include "record/machine/proc.hpp"
#include "record/perf/intel_pt_backend.hpp"
#include "record/probes/uprobe_backend.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

namespace ptlens::record {
namespace {

namespace fs = std::filesystem;

constexpr const char* data_name = "perf.data";

// A directory that is to hold a recording: taken away again unless kept.
class OutputDirectory {
public:
  static Result<OutputDirectory> make(const std::string& path) {
    if (path.empty()) {
      return std::unexpected(Error{.kind = Error::Kind::bad_input,
                                   .message = "no directory is named for the recording",
                                   .remedy = "add -o DIR"});
    }
    std::error_code failed;
    OutputDirectory result;
    result.path_ = fs::absolute(path, failed);
    if (fs::exists(result.path_ / data_name, failed)) {
      return std::unexpected(Error{.kind = Error::Kind::bad_input,
                                   .message = "holds a recording already",
                                   .file = path,
                                   .remedy = "name another directory, or remove this one"});
    }
    failed.clear();
    result.created_ = fs::create_directories(result.path_, failed);
    if (failed || !fs::is_directory(result.path_)) {
      const bool rights =
          failed == std::errc::permission_denied || failed == std::errc::read_only_file_system;
      return std::unexpected(
          Error{.kind = rights ? Error::Kind::no_rights : Error::Kind::failed,
                .message = fmt::format("cannot be made: {}",
                                       failed ? failed.message() : "it is no directory"),
                .file = path,
                .remedy = "name a directory that you may write to"});
    }
    result.kept_ = false;
    return result;
  }

  OutputDirectory(OutputDirectory&& other) noexcept
      : path_(std::move(other.path_)), created_(other.created_),
        kept_(std::exchange(other.kept_, true)) {}
  OutputDirectory(const OutputDirectory&) = delete;
  OutputDirectory& operator=(const OutputDirectory&) = delete;
  OutputDirectory& operator=(OutputDirectory&&) = delete;
  ~OutputDirectory() {
    if (kept_) {
      return;
    }
    std::error_code ignored;
    if (created_) {
      fs::remove_all(path_, ignored);
      return;
    }
    for (const char* name : {data_name, "perf.data.old", manifest_name, vdso_name}) {
      fs::remove_all(path_ / name, ignored); // with the kernel's code the data is a folder
    }
  }

  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::string data_file() const { return (path_ / data_name).string(); }
  void keep() { kept_ = true; }

private:
  OutputDirectory() = default;

  fs::path path_;
  bool created_ = false;
  bool kept_ = true; // until it is ours to take away
};

Result<void> check(const Request& request) {
  const int targets =
      static_cast<int>(request.pid.has_value()) + static_cast<int>(request.tid.has_value()) +
      static_cast<int>(request.cpu.has_value()) + static_cast<int>(request.all_cpus) +
      static_cast<int>(!request.program.empty());
  const auto bad = [](std::string message, std::string remedy) {
    return std::unexpected(Error{.kind = Error::Kind::bad_input,
                                 .message = std::move(message),
                                 .remedy = std::move(remedy)});
  };
  if (targets != 1) {
    return bad("one process, thread, CPU or program must be named, or all CPUs",
               "use one of --pid, --tid, --cpu, --all-cpus and -- PROGRAM");
  }
  if (request.pid.value_or(1) <= 0 || request.tid.value_or(1) <= 0 || request.cpu.value_or(0) < 0) {
    return bad("a process, thread or CPU cannot have a negative number", "check the number");
  }
  if (!std::isfinite(request.duration_s) || request.duration_s < 0) {
    return bad("the duration is not a number of seconds", "use for example --duration 2");
  }
  if (request.backend != "auto" && request.backend != "intel_pt" && request.backend != "uprobe") {
    return bad(fmt::format("there is no backend {}", request.backend),
               "use auto, intel_pt or uprobe");
  }
  if (request.all && request.function.empty()) {
    return bad("no function is named of which all are to be measured", "add --function NAME");
  }
  if (request.all && request.filter) {
    return bad("an address filter holds one function, and all that answer to a name were asked for",
               "leave out --filter: without it everything is traced, and `ptlens report --all` "
               "tells of all of them");
  }
  if (request.slower_than_ns != 0 && !request.snapshot) {
    return bad("a slow call is caught by a snapshot", "add --snapshot");
  }
  if (request.slower_than_ns != 0 && request.function.empty() && !request.address) {
    return bad("no function is named whose slow call is to be caught", "add --function NAME");
  }
  return {};
}

// The start time of the process or thread; checked against the one asked for.
Result<std::optional<std::uint64_t>> start_time_of(const Request& request) {
  if (!request.pid && !request.tid) {
    return std::optional<std::uint64_t>();
  }
  const std::int32_t pid = request.pid ? *request.pid : *request.tid;
  const auto stat = process_stat(pid);
  const auto gone = [](std::string message) {
    return std::unexpected(Error{.kind = Error::Kind::gone,
                                 .message = std::move(message),
                                 .remedy = "pick a running process"});
  };
  if (!stat || stat->state == 'Z' || stat->state == 'X') {
    return gone(fmt::format("process {} does not exist", pid));
  }
  if (request.start_time && *request.start_time != stat->start_time) {
    return gone(fmt::format("process {} has ended, and its number was given to another", pid));
  }
  return std::optional(stat->start_time);
}

Result<std::string> find_perf(const Request& request) {
  std::string perf = find_program(request.perf.empty() ? "perf" : request.perf);
  if (perf.empty()) {
    return std::unexpected(Error{.kind = Error::Kind::not_found,
                                 .message = request.perf.empty()
                                                ? "perf is not installed"
                                                : "is no program that can be started",
                                 .file = request.perf,
                                 .remedy = "sudo apt-get install linux-perf"});
  }
  std::error_code failed;
  const fs::path absolute = fs::absolute(perf, failed); // the child starts in another directory
  return failed ? perf : absolute.string();
}

std::string backend_for(const Request& request, const Machine& machine) {
  if (request.backend != "auto") {
    return request.backend;
  }
  return machine.intel_pt ? "intel_pt" : "uprobe";
}

} // namespace

Result<Outcome> record(const Request& asked, const Progress& progress) {
  if (auto checked = check(asked); !checked) {
    return std::unexpected(checked.error());
  }
  const auto start_time = start_time_of(asked);
  if (!start_time) {
    return std::unexpected(start_time.error());
  }
  const auto perf = find_perf(asked);
  if (!perf) {
    return std::unexpected(perf.error());
  }
  auto directory = OutputDirectory::make(asked.output);
  if (!directory) {
    return std::unexpected(directory.error());
  }
  const Machine machine = read_machine(*perf);
  Request request = asked;
  request.output = directory->path();
  request.start_time = *start_time;
  if (!request.working_directory.empty()) {
    std::error_code ignored;
    request.working_directory = fs::absolute(request.working_directory, ignored).string();
  }

  Outcome outcome;
  outcome.directory = directory->path();
  Manifest& manifest = outcome.manifest;
  manifest.backend = backend_for(request, machine);
  if (manifest.backend == "uprobe" && request.snapshot) {
    return std::unexpected(
        Error{.kind = Error::Kind::unsupported,
              .message = "probes keep no snapshot: only a processor's trace holds "
                         "what led up to a call",
              .remedy = machine.intel_pt ? "leave out --backend uprobe"
                                         : "this machine has no Intel Processor Trace; without "
                                           "--snapshot probes measure every call"});
  }
  manifest.ptlens_version = PTLENS_VERSION;
  manifest.function = request.function;
  manifest.binary = request.binary;
  manifest.pid = request.pid.value_or(-1);
  manifest.command = request.program;
  manifest.duration_s = request.duration_s;
  Result<Summary> measured;
  if (manifest.backend == "uprobe" || request.slower_than_ns != 0) {
    if (auto removed = remove_stale_probes();
        !removed && removed.error().kind != Error::Kind::no_rights) {
      manifest.notes.push_back(removed.error().one_line());
    }
  }
  if (manifest.backend == "uprobe") {
    measured = record_uprobe(request, machine, *perf, directory->data_file(), progress, manifest);
  } else {
    measured = record_intel_pt(request, machine, *perf, directory->data_file(), progress, manifest);
  }
  if (!measured) {
    return std::unexpected(measured.error());
  }
  if (progress.cancelled()) {
    return std::unexpected(
        Error{.kind = Error::Kind::cancelled, .message = "the recording was cancelled"});
  }
  outcome.summary = std::move(*measured);
  if (auto written = write_manifest(directory->path(), manifest); !written) {
    return std::unexpected(written.error());
  }
  std::error_code failed;
  const fs::path data = directory->data_file();
  outcome.bytes = fs::file_size(fs::is_directory(data) ? data / data_in_folder : data, failed);
  directory->keep();
  return outcome;
}

} // namespace ptlens::record
