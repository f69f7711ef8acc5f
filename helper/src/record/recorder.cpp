#include "record/recorder.hpp"

#include "record/backends/finish.hpp"
#include "record/backends/intel_pt_backend.hpp"
#include "record/backends/uftrace_backend.hpp"
#include "record/backends/uprobe_backend.hpp"
#include "record/machine/machine.hpp"
#include "record/probes/events/probe_group.hpp"
#include "record/processes/process_stat.hpp"
#include "record/targets/private_files.hpp"
#include "record/vdso.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

namespace ptlens::record {
namespace {

namespace fs = std::filesystem;

constexpr const char* data_name = "perf.data";

// The directory of a recording. It is removed again unless keep() is called.
class OutputDirectory {
public:
  static Result<OutputDirectory> make(const std::string& path) {
    if (path.empty()) {
      return std::unexpected(Error{.kind = Error::Kind::bad_input,
                                   .message = "the request names no directory for the recording",
                                   .remedy = "add -o DIR"});
    }
    std::error_code failed;
    OutputDirectory result;
    result.path_ = fs::absolute(path, failed);
    if (fs::exists(result.path_ / data_name, failed) ||
        fs::exists(result.path_ / uftrace_name, failed)) {
      return std::unexpected(Error{.kind = Error::Kind::bad_input,
                                   .message = "the directory already contains a recording",
                                   .file = path,
                                   .remedy = "use another directory, or remove this one"});
    }
    failed.clear();
    result.created_ = fs::create_directories(result.path_, failed);
    if (failed || !fs::is_directory(result.path_)) {
      const bool rights =
          failed == std::errc::permission_denied || failed == std::errc::read_only_file_system;
      return std::unexpected(
          Error{.kind = rights ? Error::Kind::no_rights : Error::Kind::failed,
                .message = fmt::format("the directory cannot be created: {}",
                                       failed ? failed.message() : "a file has this name"),
                .file = path,
                .remedy = "use a directory that you can write to"});
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
    for (const char* name : {data_name, "perf.data.old", manifest_name, vdso_name, uftrace_name}) {
      fs::remove_all(path_ / name,
                     ignored); // the data file is a folder when it contains the kernel's code
    }
  }

  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::string data_file() const { return (path_ / data_name).string(); }
  void keep() { kept_ = true; }

private:
  OutputDirectory() = default;

  fs::path path_;
  bool created_ = false;
  bool kept_ = true; // until the directory was created
};

// Returns the start time of the process or thread. Errors: gone when it ended, or when its start
// time is not the requested one.
Result<std::optional<std::uint64_t>> start_time_of(const Request& request) {
  if (!request.attached()) {
    return std::optional<std::uint64_t>();
  }
  const std::int32_t pid = *request.attached();
  const auto stat = process_stat(pid);
  if (!stat || !stat->runs()) {
    return std::unexpected(process_is_gone(pid));
  }
  if (request.start_time && *request.start_time != stat->start_time) {
    return std::unexpected(Error{
        .kind = Error::Kind::gone,
        .message = fmt::format("process {} ended, and another process has its number now", pid),
        .remedy = "choose a running process"});
  }
  return std::optional(stat->start_time);
}

Result<std::string> find_perf(const Request& request) {
  std::string perf = find_program(request.perf.empty() ? "perf" : request.perf);
  if (perf.empty()) {
    return std::unexpected(Error{.kind = Error::Kind::not_found,
                                 .message = request.perf.empty()
                                                ? "perf is not installed"
                                                : "the file is not an executable program",
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
  if (machine.intel_pt) {
    return "intel_pt";
  }
  const bool hooks = !request.snapshot && !request.kernel && check_uftrace(request);
  return hooks ? "uftrace" : "uprobe";
}

// Returns the bytes of the data in the folder, or of the file.
std::uint64_t bytes_of(const fs::path& data) {
  std::error_code failed;
  if (!fs::is_directory(data, failed)) {
    const std::uintmax_t size = fs::file_size(data, failed);
    return failed ? 0 : size;
  }
  std::uint64_t sum = 0;
  for (fs::directory_iterator at(data, failed), end; !failed && at != end; at.increment(failed)) {
    std::error_code ignored;
    sum += at->is_regular_file(ignored) ? at->file_size(ignored) : 0;
  }
  return sum;
}

} // namespace

Result<Outcome> record(const Request& requested, const Progress& progress, Companion* companion) {
  if (auto checked = check_request(requested); !checked) {
    return std::unexpected(checked.error());
  }
  const auto start_time = start_time_of(requested);
  if (!start_time) {
    return std::unexpected(start_time.error());
  }
  const auto perf = find_perf(requested);
  const Machine machine = read_machine(perf.value_or(""));
  const std::string backend = backend_for(requested, machine);
  if (!perf && (backend == "intel_pt" || !requested.perf.empty())) {
    return std::unexpected(perf.error());
  }
  auto directory = OutputDirectory::make(requested.output);
  if (!directory) {
    return std::unexpected(directory.error());
  }
  Request request = requested;
  request.output = directory->path();
  request.start_time = *start_time;
  if (!request.working_directory.empty()) {
    std::error_code ignored;
    request.working_directory = fs::absolute(request.working_directory, ignored).string();
  }

  Outcome outcome;
  outcome.directory = directory->path();
  Manifest& manifest = outcome.manifest;
  manifest.backend = backend;
  if (auto checked = check_backend(request, manifest.backend, machine.intel_pt.has_value());
      !checked) {
    return std::unexpected(checked.error());
  }
  manifest.ptlens_version = PTLENS_VERSION;
  manifest.function = request.function_names();
  for (const WantedFunction& wanted : request.functions()) {
    manifest.functions.push_back(wanted.name);
  }
  manifest.binary = request.binary;
  manifest.pid = request.pid.value_or(-1);
  manifest.command = request.program;
  manifest.duration_s = request.duration_s;
  Result<Summary> measured;
  if (manifest.backend == "uprobe" || request.slower_than_ns != 0) {
    if (auto removed = remove_stale_probes();
        !removed && removed.error().kind != Error::Kind::no_rights) {
      manifest.notes.push_back(make_note("stale_probes", "{}", removed.error().one_line()));
    }
  }
  copy_private_files(request, directory->path(), manifest);
  fs::path data = directory->data_file();
  if (manifest.backend == "uftrace") {
    data = fs::path(directory->path()) / uftrace_name;
    measured = record_uftrace(request, data.string(), progress, manifest);
  } else if (manifest.backend == "uprobe") {
    measured = record_uprobe(request, machine, directory->data_file(), progress, manifest);
  } else {
    if (companion != nullptr) {
      companion->begin(request);
    }
    measured = record_intel_pt(request, machine, *perf, directory->data_file(), progress, manifest);
    if (auto note = companion == nullptr ? std::nullopt : companion->end()) {
      manifest.notes.push_back(*std::move(note));
    }
  }
  if (!measured) {
    return std::unexpected(measured.error());
  }
  if (progress.cancelled()) {
    return std::unexpected(
        Error{.kind = Error::Kind::cancelled, .message = "the recording was cancelled"});
  }
  copy_private_files(request, directory->path(), manifest); // those that were loaded meanwhile
  outcome.summary = std::move(*measured);
  if (auto written = write_manifest(directory->path(), manifest); !written) {
    return std::unexpected(written.error());
  }
  const bool copied_kernel = manifest.backend != "uftrace" && fs::is_directory(data);
  outcome.bytes = bytes_of(copied_kernel ? data / data_in_folder : data);
  directory->keep();
  return outcome;
}

} // namespace ptlens::record
