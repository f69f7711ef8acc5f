// The doctor's findings about perf, the kernel's probes, a binary's debug information and the disk.
#include "record/machine/findings.hpp"
#include "record/machine/proc.hpp"
#include "record/processes/child.hpp"
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

// Text of the kernel's configuration, empty where it is not told.
std::string kernel_configuration(const std::string& root) {
  std::string text;
  if (gzFile file = ::gzopen((root + "/proc/config.gz").c_str(), "rb"); file != nullptr) {
    std::array<char, 65536> piece{};
    constexpr std::size_t most = std::size_t{4} << 20;
    int size = 0;
    while (text.size() < most && (size = ::gzread(file, piece.data(), piece.size())) > 0) {
      text.append(piece.data(), static_cast<std::size_t>(size));
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
  const Words& say = facts.say;
  Finding finding{.id = "perf", .title = "perf", .why = say("records for both backends")};
  const auto version = facts.perf.empty() ? Result<std::string>(std::unexpected(Error{}))
                                          : run({facts.perf, "--version"}, patience);
  if (version && parse_perf_version(*version)) {
    finding.detail = fmt::format("{}: {}", facts.perf, stripped(*version));
    return finding;
  }
  finding.state = State::missing;
  if (facts.perf.empty()) {
    finding.detail =
        facts.asked.empty() ? say("perf is not on PATH") : say("{0} is no program", facts.asked);
  } else {
    finding.detail =
        version ? say("{0} is not perf: {1}", facts.perf, stripped(version->substr(0, 200)))
                : version.error().one_line();
  }
  finding.remedy = install_perf;
  finding.permanent = install_perf;
  return finding;
}

std::optional<Finding> find_perf_features(const Facts& facts) {
  const Words& say = facts.say;
  if (facts.perf.empty()) {
    return std::nullopt;
  }
  Finding finding{.id = "perf_features",
                  .title = say("What perf supports"),
                  .why =
                      say("recordings are started and stopped by --control; --snapshot keeps the "
                          "last moments, --filter traces one function, --kcore keeps the kernel's "
                          "code")};
  const auto said = run({facts.perf, "--version"}, patience);
  const auto version = said ? parse_perf_version(*said) : std::nullopt;
  if (!version) {
    return std::nullopt;
  }
  const auto usage = run({facts.perf, "record", "-h"}, patience);
  std::vector<std::string_view> lacking;
  for (const std::string_view option :
       {"--control", "--switch-events", "--snapshot", "--filter", "--kcore"}) {
    if (!usage || !has_option(*usage, option)) {
      lacking.push_back(option);
    }
  }
  // The command "stop" of --control came with 5.12 ("perf tools: Add 'stop' control command").
  constexpr int first_major = 5;
  constexpr int first_minor = 12;
  const bool stops = version->major > first_major ||
                     (version->major == first_major && version->minor >= first_minor);
  if (lacking.empty() && stops) {
    finding.detail = say("everything that is used");
    return finding;
  }
  const bool control = stops && (lacking.empty() || lacking.front() != "--control");
  finding.state = control ? State::limited : State::missing;
  finding.detail = lacking.empty()
                       ? say("{0} knows no command to stop",
                             fmt::format("{}.{}", version->major, version->minor))
                       : say("it has no {0}", fmt::format("{}", fmt::join(lacking, ", ")));
  finding.remedy = install_perf;
  finding.permanent = install_perf;
  return finding;
}

Finding find_tracefs(const Facts& facts) {
  const Words& say = facts.say;
  Finding finding{
      .id = "tracefs", .title = "tracefs", .why = say("probes are set by writing to it")};
  const std::string& folder = facts.machine.tracefs;
  if (folder.empty()) {
    finding.state = State::missing;
    finding.detail = say("not mounted, or not to be seen by us");
    finding.remedy = finding.temporary = "sudo mount -t tracefs nodev /sys/kernel/tracing";
    finding.permanent = "echo 'nodev /sys/kernel/tracing tracefs defaults 0 0' | sudo tee -a "
                        "/etc/fstab";
    return finding;
  }
  finding.detail = folder;
  if (::access(folder.c_str(), W_OK) != 0) {
    finding.state = State::missing;
    if (errno == EROFS) {
      finding.detail = say("{0} is mounted read-only", folder);
      finding.remedy = finding.temporary = fmt::format("sudo mount -o remount,rw,bind {}", folder);
    } else {
      finding.detail = say("{0} belongs to root", folder);
      finding.remedy = finding.temporary = "sudo ptlens record ...";
    }
  }
  return finding;
}

Finding find_uprobes(const Facts& facts) {
  const Words& say = facts.say;
  Finding finding{.id = "uprobes",
                  .title = say("User-space probes"),
                  .why = say("measure calls live where there is no Intel PT")};
  const std::string configuration = kernel_configuration(facts.root);
  const bool off =
      !configuration.empty() && configuration.find("\nCONFIG_UPROBE_EVENTS=y") == std::string::npos;
  const std::string file = facts.machine.tracefs + "/uprobe_events";
  const bool there = !facts.machine.tracefs.empty() && ::access(file.c_str(), F_OK) == 0;
  const int denied = there ? 0 : errno;
  if (off || (!facts.machine.tracefs.empty() && !there && denied == ENOENT)) {
    finding.state = State::missing;
    finding.detail = off ? say("the kernel was built without CONFIG_UPROBE_EVENTS")
                         : say("the kernel has no {0}", file);
    finding.remedy =
        say("use a kernel with CONFIG_UPROBE_EVENTS=y (those of distributions have it)");
  } else if (facts.machine.tracefs.empty()) {
    finding.state = State::missing;
    finding.detail = configuration.empty() ? say("not known without tracefs")
                                           : say("the kernel has them, but tracefs is not there");
    finding.remedy = say("mount tracefs first, as above");
  } else if (::access(file.c_str(), W_OK) != 0 && errno == EROFS) {
    finding.state = State::missing;
    finding.detail = say("{0} may not be written", file);
    finding.remedy = say("make tracefs writable first, as above");
  } else if (::access(file.c_str(), W_OK) != 0 || !facts.machine.rights.root) {
    finding.state = State::missing;
    finding.detail = say("only root may set them");
    finding.remedy = finding.temporary = "sudo ptlens record ...";
  } else {
    finding.detail = say("{0} may be written", file);
  }
  return finding;
}

Finding find_disk_room(const Words& say, const std::string& asked) {
  Finding finding{.id = "disk",
                  .title = say("Room on disk"),
                  .why = say("a trace grows by up to some hundred MB a second and core")};
  std::error_code failed;
  const std::string folder = asked.empty() ? std::filesystem::current_path(failed).string() : asked;
  struct statvfs status{};
  if (failed || ::statvfs(folder.c_str(), &status) != 0) {
    finding.state = State::limited;
    finding.detail = say("the room at {0} is not known", folder);
    finding.remedy = say("record into a directory that exists");
    return finding;
  }
  constexpr double gib = 1024.0 * 1024 * 1024;
  const double room = static_cast<double>(status.f_bavail) * static_cast<double>(status.f_frsize);
  finding.detail = say("{0} GiB free at {1}", fmt::format("{:.1f}", room / gib), folder);
  if (room < gib) {
    constexpr double little = gib / 16;
    finding.state = room < little ? State::missing : State::limited;
    finding.remedy = say("free some room, or record to another disk with -o");
  }
  return finding;
}

Finding find_debug_information(const Words& say, const std::string& path) {
  Finding finding{.id = "debug_info",
                  .title = say("Debug information"),
                  .why =
                      say("without it functions have no source lines, without symbols no names")};
  const auto binary = symbols::Binary::open(path);
  if (!binary) {
    finding.state = State::missing;
    finding.detail = binary.error().one_line();
    finding.remedy = say("name an ELF file that may be read");
    return finding;
  }
  const std::size_t functions = (*binary)->functions().size();
  if ((*binary)->has_debug_info()) {
    finding.detail = say("{0}: {1} functions with lines", path, std::to_string(functions));
    return finding;
  }
  finding.state = functions == 0 ? State::missing : State::limited;
  finding.detail = say("{0}: {1} functions with names, no lines", path, std::to_string(functions));
  finding.remedy = say("compile with -g, and do not strip the binary; for a binary of a package, "
                       "install its -dbgsym or -debuginfo package");
  return finding;
}

} // namespace ptlens::record
