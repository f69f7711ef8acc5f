// Sources: sysfs, procfs, capabilities(7).
#include "record/machine/machine.hpp"

#include "record/processes/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace ptlens::record {
namespace {

constexpr const char* intel_pt_device = "/sys/bus/event_source/devices/intel_pt";

std::optional<IntelPtCapabilities> read_intel_pt(const std::string& device) {
  struct stat status{};
  if (::stat(device.c_str(), &status) != 0) {
    return std::nullopt;
  }
  const auto capability = [&device](const char* name) {
    const std::optional<std::string> text = read_text(fmt::format("{}/caps/{}", device, name), 64);
    return text ? static_cast<std::uint32_t>(std::strtoul(text->c_str(), nullptr, 16)) : 0U;
  };
  IntelPtCapabilities capabilities;
  capabilities.cycle_packets = capability("psb_cyc") != 0;
  capabilities.mini_time_counter = capability("mtc") != 0;
  capabilities.mtc_periods = capability("mtc_periods");
  capabilities.psb_periods = capability("psb_periods");
  capabilities.ip_filtering = capability("ip_filtering") != 0;
  capabilities.address_filters = capability("num_address_ranges");
  if (const auto offered = read_number(device + "/nr_addr_filters"); offered && *offered >= 0) {
    capabilities.address_filters =
        std::min(capabilities.address_filters, static_cast<std::uint32_t>(*offered));
  }
  return capabilities;
}

// Opening /proc/kcore requires CAP_SYS_RAWIO and the permissions of the file.
bool kernel_is_readable(const std::string& root) {
  return std::ifstream(root + "/proc/kcore", std::ios::binary).get() == '\x7f';
}

// Ordinary users cannot read tracefs, so the mount is checked instead. Among another machine's
// files tracefs is an ordinary folder.
std::string find_tracefs(const std::string& root) {
  for (const char* name : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
    const std::string folder = root + name;
    struct statfs mounted{};
    struct stat events{};
    if ((::statfs(folder.c_str(), &mounted) == 0 && mounted.f_type == TRACEFS_MAGIC) ||
        (!root.empty() && ::stat((folder + "/events").c_str(), &events) == 0)) {
      return folder;
    }
  }
  return {};
}

} // namespace

Machine read_machine(const std::string& perf, const std::string& root) {
  Machine machine;
  machine.cpus = static_cast<std::uint32_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  machine.page_size = static_cast<std::uint64_t>(std::max(4096L, ::sysconf(_SC_PAGESIZE)));
  machine.memory =
      static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES))) * machine.page_size;
  machine.mlock_kb = static_cast<std::uint64_t>(std::max<std::int64_t>(
      0, read_number(root + "/proc/sys/kernel/perf_event_mlock_kb").value_or(516)));
  rlimit memlock{};
  constexpr std::uint64_t enough = std::uint64_t{1} << 30;
  if (::getrlimit(RLIMIT_MEMLOCK, &memlock) == 0) {
    machine.memlock = std::min<std::uint64_t>(memlock.rlim_cur, enough);
  }
  machine.paranoid = read_number(root + "/proc/sys/kernel/perf_event_paranoid").value_or(2);
  machine.intel_pt = read_intel_pt(root + intel_pt_device);
  machine.tracefs = find_tracefs(root);
  machine.kernel_readable = kernel_is_readable(root);
  machine.rights = parse_rights(read_text(root + "/proc/self/status").value_or(""),
                                read_text(root + "/proc/self/uid_map").value_or(""));
  const Rights given = file_rights(perf);
  machine.rights.perfmon |= given.perfmon;
  machine.rights.sys_ptrace |= given.sys_ptrace;
  machine.rights.ipc_lock |= given.ipc_lock;
  return machine;
}

std::string find_program(const std::string& name) {
  const auto executable = [](const std::string& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
           ::access(path.c_str(), X_OK) == 0;
  };
  if (name.empty()) {
    return {};
  }
  if (name.find('/') != std::string::npos) {
    return executable(name) ? name : std::string();
  }
  const char* const variable = std::getenv("PATH");
  std::string_view folders = variable != nullptr ? variable : "/usr/bin:/bin";
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    const std::string path = fmt::format("{}/{}", folders.substr(0, end), name);
    if (end > 0 && executable(path)) {
      return path;
    }
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return {};
}

} // namespace ptlens::record
