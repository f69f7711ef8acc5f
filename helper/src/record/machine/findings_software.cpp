// The doctor's findings about perf, the kernel's probes, a binary's debug information and disk
// space.
#include "record/machine/findings.hpp"
#include "record/machine/wait_events.hpp"
#include "record/processes/child.hpp"
#include "record/processes/files.hpp"
#include "symbols/binary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <system_error>
#include <unistd.h>
#include <vector>
#include <zlib.h>

namespace ptlens::record {
namespace {

using State = Finding::State;

constexpr std::chrono::milliseconds patience(10'000);
constexpr const char* install_perf = "sudo apt-get install linux-perf";

std::string stripped(std::string text) {
  text.resize(text.find_last_not_of("\r\n") + 1);
  return text;
}

// Returns the text of the kernel's configuration, or an empty string when it is not available.
std::string kernel_configuration(const std::string& root) {
  std::string text;
  if (gzFile file = ::gzopen((root + "/proc/config.gz").c_str(), "rb"); file != nullptr) {
    std::array<char, 65536> chunk{};
    constexpr std::size_t most = std::size_t{4} << 20;
    int size = 0;
    while (text.size() < most && (size = ::gzread(file, chunk.data(), chunk.size())) > 0) {
      text.append(chunk.data(), static_cast<std::size_t>(size));
    }
    ::gzclose(file);
  }
  if (text.empty()) {
    utsname system{};
    ::uname(&system);
    text = read_text(fmt::format("{}/boot/config-{}", root, system.release), std::size_t{4} << 20)
               .value_or("");
  }
  return text;
}

bool has_option(const std::string& usage, std::string_view name) {
  const std::size_t at = usage.find(name);
  return at != std::string::npos &&
         (at + name.size() >= usage.size() || std::isalnum(usage[at + name.size()]) == 0);
}

} // namespace

std::optional<PerfVersion> parse_perf_version(std::string_view text) {
  constexpr std::string_view prefix = "perf version ";
  const std::size_t at = text.find(prefix);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  PerfVersion version;
  const char* const begin = text.data() + at + prefix.size();
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(begin, end, version.major);
  if (major.ec != std::errc{} || major.ptr == end || *major.ptr != '.' ||
      std::from_chars(major.ptr + 1, end, version.minor).ec != std::errc{}) {
    return std::nullopt;
  }
  return version;
}

Finding find_perf(const Facts& facts) {
  Finding finding{
      .id = "perf", .title = "perf", .why = "Intel PT and probes are recorded with perf"};
  const auto version = facts.perf.empty() ? Result<std::string>(std::unexpected(Error{}))
                                          : run({facts.perf, "--version"}, patience);
  if (version && parse_perf_version(*version)) {
    finding.detail = fmt::format("{}: {}", facts.perf, stripped(*version));
    return finding;
  }
  finding.state = State::missing;
  if (facts.perf.empty()) {
    finding.detail = facts.requested_perf.empty()
                         ? "perf was not found on PATH"
                         : fmt::format("{} is not an executable file", facts.requested_perf);
  } else {
    finding.detail = version ? fmt::format("{} is not perf: it printed: {}", facts.perf,
                                           stripped(version->substr(0, 200)))
                             : version.error().one_line();
  }
  finding.remedy = install_perf;
  finding.permanent = install_perf;
  return finding;
}

std::optional<Finding> find_perf_features(const Facts& facts) {
  if (facts.perf.empty()) {
    return std::nullopt;
  }
  Finding finding{.id = "perf_features",
                  .title = "Options of perf",
                  .why = "ptlens starts and stops a recording with --control. --snapshot keeps the "
                         "newest trace, --filter traces one function, and --kcore copies the "
                         "kernel's code"};
  const auto printed = run({facts.perf, "--version"}, patience);
  const auto version = printed ? parse_perf_version(*printed) : std::nullopt;
  if (!version) {
    return std::nullopt;
  }
  const auto usage = run({facts.perf, "record", "-h"}, patience);
  std::vector<std::string_view> missing;
  for (const std::string_view option :
       {"--control", "--switch-events", "--snapshot", "--filter", "--kcore"}) {
    if (!usage || !has_option(*usage, option)) {
      missing.push_back(option);
    }
  }
  // The command "stop" of --control came with 5.12 ("perf tools: Add 'stop' control command").
  constexpr int first_major = 5;
  constexpr int first_minor = 12;
  const bool stops = version->major > first_major ||
                     (version->major == first_major && version->minor >= first_minor);
  if (missing.empty() && stops) {
    finding.detail = "all options that ptlens uses are available";
    return finding;
  }
  const bool control = stops && (missing.empty() || missing.front() != "--control");
  finding.state = control ? State::limited : State::missing;
  finding.detail =
      missing.empty()
          ? fmt::format("perf {}.{} does not support the command stop of --control; 5.12 does",
                        version->major, version->minor)
          : fmt::format("this perf does not support {}", fmt::join(missing, ", "));
  finding.remedy = install_perf;
  finding.permanent = install_perf;
  return finding;
}

Finding find_tracefs(const Facts& facts) {
  Finding finding{
      .id = "tracefs", .title = "tracefs", .why = "probes are set by writing to tracefs"};
  const std::string& folder = facts.machine.tracefs;
  if (folder.empty()) {
    finding.state = State::missing;
    finding.detail = "tracefs is not mounted, or this user cannot see it";
    finding.remedy = finding.temporary = "sudo mount -t tracefs nodev /sys/kernel/tracing";
    finding.permanent = "echo 'nodev /sys/kernel/tracing tracefs defaults 0 0' | sudo tee -a "
                        "/etc/fstab";
    return finding;
  }
  finding.detail = folder;
  if (::access(folder.c_str(), W_OK) != 0) {
    finding.state = State::missing;
    if (errno == EROFS) {
      finding.detail = fmt::format("{} is mounted read-only", folder);
      finding.remedy = finding.temporary = fmt::format("sudo mount -o remount,rw,bind {}", folder);
    } else {
      finding.detail = fmt::format("only root can write to {}", folder);
      finding.remedy = finding.temporary = "sudo ptlens record ...";
    }
  }
  return finding;
}

Finding find_uprobes(const Facts& facts) {
  Finding finding{.id = "uprobes",
                  .title = "User-space probes",
                  .why = "probes measure calls in running programs on machines without Intel PT"};
  const std::string configuration = kernel_configuration(facts.root);
  const bool off =
      !configuration.empty() && configuration.find("\nCONFIG_UPROBE_EVENTS=y") == std::string::npos;
  const std::string file = facts.machine.tracefs + "/uprobe_events";
  const bool there = !facts.machine.tracefs.empty() && ::access(file.c_str(), F_OK) == 0;
  const int denied = there ? 0 : errno;
  if (off || (!facts.machine.tracefs.empty() && !there && denied == ENOENT)) {
    finding.state = State::missing;
    finding.detail = off ? "the kernel was built without CONFIG_UPROBE_EVENTS"
                         : fmt::format("{} does not exist", file);
    finding.remedy = "use a kernel with CONFIG_UPROBE_EVENTS=y; the kernels of Linux distributions "
                     "have it";
  } else if (facts.machine.tracefs.empty()) {
    finding.state = State::missing;
    finding.detail = configuration.empty() ? "unknown, because tracefs is not mounted"
                                           : "the kernel supports probes, but tracefs is not "
                                             "mounted";
    finding.remedy = "mount tracefs first; see the finding tracefs";
  } else if (::access(file.c_str(), W_OK) != 0 && errno == EROFS) {
    finding.state = State::missing;
    finding.detail = fmt::format("{} is on a read-only file system", file);
    finding.remedy = "make tracefs writable first; see the finding tracefs";
  } else if (::access(file.c_str(), W_OK) != 0 || !facts.machine.rights.root) {
    finding.state = State::missing;
    finding.detail = "only root can set probes";
    finding.remedy = finding.temporary = "sudo ptlens record ...";
  } else {
    finding.detail = fmt::format("{} is writable", file);
  }
  return finding;
}

Finding find_wait_tracepoints(const Facts& facts) {
  Finding finding{
      .id = "wait_tracepoints",
      .title = "Reasons of waits",
      .why = "the scheduler's tracepoints show what a thread waited for, and which thread or "
             "process woke it"};
  const auto found = find_wait_events(facts.machine);
  if (found) {
    finding.detail = "sched_switch and sched_waking can be recorded, wakings by other processes "
                     "included";
    return finding;
  }
  finding.state = State::limited;
  finding.detail = found.error().message;
  finding.remedy = found.error().remedy;
  finding.temporary = found.error().remedy;
  return finding;
}

Finding find_uftrace() {
  constexpr const char* install = "sudo apt-get install uftrace";
  Finding finding{.id = "uftrace",
                  .title = "uftrace",
                  .why =
                      "without Intel PT, uftrace measures all functions of a program that ptlens "
                      "starts; it needs no root"};
  const std::string program = find_program("uftrace");
  const auto version = program.empty() ? Result<std::string>(std::unexpected(Error{}))
                                       : run({program, "--version"}, patience);
  if (program.empty()) {
    finding.state = State::limited;
    finding.detail = "uftrace was not found on PATH";
    finding.remedy = finding.permanent = install;
  } else if (!version || !version->starts_with("uftrace ")) {
    finding.state = State::limited;
    finding.detail = fmt::format("{} does not run", program);
    finding.remedy = finding.permanent = install;
  } else if (version->find("dynamic") == std::string::npos) {
    finding.state = State::limited;
    finding.detail = fmt::format("{} cannot patch programs: {}", program, stripped(*version));
    finding.remedy = "build the program with -pg, or use a uftrace that was built with capstone";
  } else {
    finding.detail = fmt::format("{}: {}", program, stripped(*version));
  }
  return finding;
}

Finding find_disk_space(const std::string& requested) {
  Finding finding{.id = "disk",
                  .title = "Disk space",
                  .why = "a trace can grow by several hundred MB per second and core"};
  std::error_code failed;
  const std::string folder =
      requested.empty() ? std::filesystem::current_path(failed).string() : requested;
  struct statvfs status{};
  if (failed || ::statvfs(folder.c_str(), &status) != 0) {
    finding.state = State::limited;
    finding.detail = fmt::format("the free space in {} is unknown", folder);
    finding.remedy = "record into a directory that exists";
    return finding;
  }
  constexpr double gib = 1024.0 * 1024 * 1024;
  const double space = static_cast<double>(status.f_bavail) * static_cast<double>(status.f_frsize);
  finding.detail = fmt::format("{:.1f} GiB free in {}", space / gib, folder);
  if (space < gib) {
    constexpr double little = gib / 16;
    finding.state = space < little ? State::missing : State::limited;
    finding.remedy = "free some disk space, or record to another disk with -o";
  }
  return finding;
}

Finding find_debug_information(const std::string& path) {
  Finding finding{.id = "debug_info",
                  .title = "Debug information",
                  .why = "without debug information functions have no source lines, and without "
                         "symbols they have no names"};
  const auto binary = symbols::Binary::open(path);
  if (!binary) {
    finding.state = State::missing;
    finding.detail = binary.error().one_line();
    finding.remedy = "name an ELF file that you can read";
    return finding;
  }
  const std::size_t functions = (*binary)->functions().size();
  if ((*binary)->has_debug_info()) {
    finding.detail = fmt::format("{}: {} functions with source lines", path, functions);
    return finding;
  }
  finding.state = functions == 0 ? State::missing : State::limited;
  finding.detail =
      fmt::format("{}: {} functions with names, but without source lines", path, functions);
  finding.remedy = "compile with -g, and do not strip the binary; for a binary from a package, "
                   "install its -dbgsym or -debuginfo package";
  return finding;
}

} // namespace ptlens::record
