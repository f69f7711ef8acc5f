// What this machine and our rights allow: sysfs, procfs, capabilities(7).
#include "record/machine.hpp"

#include "record/proc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace ptlens::record {
namespace {

constexpr const char* intel_pt_device = "/sys/bus/event_source/devices/intel_pt";

// Numbers from include/uapi/linux/capability.h.
constexpr unsigned capability_ipc_lock = 14;
constexpr unsigned capability_sys_ptrace = 19;
constexpr unsigned capability_sys_admin = 21;
constexpr unsigned capability_perfmon = 38;

Rights rights_of(std::uint64_t capabilities) {
  const auto has = [capabilities](unsigned bit) { return ((capabilities >> bit) & 1) != 0; };
  Rights rights;
  rights.perfmon = has(capability_perfmon) || has(capability_sys_admin);
  rights.sys_ptrace = has(capability_sys_ptrace);
  rights.ipc_lock = has(capability_ipc_lock);
  return rights;
}

std::string_view field_of(std::string_view status, std::string_view name) {
  std::size_t at = 0;
  while (at < status.size()) {
    const std::size_t end = std::min(status.find('\n', at), status.size());
    const std::string_view line = status.substr(at, end - at);
    if (line.starts_with(name)) {
      return line.substr(name.size());
    }
    at = end + 1;
  }
  return {};
}

std::uint32_t little_endian_32(std::string_view bytes, std::size_t offset) {
  std::uint32_t value = 0;
  for (std::size_t byte = 0; byte < 4; ++byte) {
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[offset + byte]))
             << (8 * byte);
  }
  return value;
}

std::optional<IntelPtCapabilities> read_intel_pt() {
  struct stat status{};
  if (::stat(intel_pt_device, &status) != 0) {
    return std::nullopt;
  }
  const auto capability = [](const char* name) {
    const std::optional<std::string> text =
        read_text(fmt::format("{}/caps/{}", intel_pt_device, name), 64);
    return text ? static_cast<std::uint32_t>(std::strtoul(text->c_str(), nullptr, 16)) : 0U;
  };
  IntelPtCapabilities capabilities;
  capabilities.cycle_packets = capability("psb_cyc") != 0;
  capabilities.mini_time_counter = capability("mtc") != 0;
  capabilities.mtc_periods = capability("mtc_periods");
  capabilities.ip_filtering = capability("ip_filtering") != 0;
  capabilities.address_filters = capability("num_address_ranges");
  return capabilities;
}

// Opening it takes CAP_SYS_RAWIO as well as the file's own rights.
bool kernel_is_readable() {
  return std::ifstream("/proc/kcore", std::ios::binary).get() == '\x7f';
}

std::string find_tracefs() {
  for (const char* folder : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
    struct statfs status{};
    if (::statfs(folder, &status) == 0 && status.f_type == TRACEFS_MAGIC) {
      return folder;
    }
  }
  return {};
}

} // namespace

Rights parse_rights(std::string_view status) {
  std::string_view hexadecimal = field_of(status, "CapEff:");
  hexadecimal.remove_prefix(std::min(hexadecimal.find_first_not_of(" \t"), hexadecimal.size()));
  std::uint64_t capabilities = 0;
  std::from_chars(hexadecimal.data(), hexadecimal.data() + hexadecimal.size(), capabilities, 16);
  Rights rights = rights_of(capabilities);

  std::string_view users = field_of(status, "Uid:"); // real, effective, saved, file system
  const auto skip = [&users](const char* characters) {
    users.remove_prefix(std::min(users.find_first_not_of(characters), users.size()));
  };
  skip(" \t");
  skip("0123456789");
  skip(" \t");
  std::uint32_t effective = 1;
  const auto [end, error] = std::from_chars(users.data(), users.data() + users.size(), effective);
  rights.root = error == std::errc{} && effective == 0;
  return rights;
}

Rights parse_file_capabilities(std::string_view attribute) {
  constexpr std::size_t revision_2_size = 20; // magic, two pairs of permitted and inheritable
  if (attribute.size() < revision_2_size) {
    return {};
  }
  constexpr std::uint32_t effective_flag = 1;
  const std::uint32_t magic = little_endian_32(attribute, 0);
  const std::uint32_t revision = magic >> 24;
  if ((revision != 2 && revision != 3) || (magic & effective_flag) == 0) {
    return {};
  }
  const std::uint64_t low = little_endian_32(attribute, 4);
  const std::uint64_t high = little_endian_32(attribute, 12);
  return rights_of(low | high << 32);
}

Machine read_machine(const std::string& perf) {
  Machine machine;
  machine.cpus = static_cast<std::uint32_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  machine.page_size = static_cast<std::uint64_t>(std::max(4096L, ::sysconf(_SC_PAGESIZE)));
  machine.memory =
      static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES))) * machine.page_size;
  machine.mlock_kb = static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, read_number("/proc/sys/kernel/perf_event_mlock_kb").value_or(516)));
  machine.paranoid = read_number("/proc/sys/kernel/perf_event_paranoid").value_or(2);
  machine.intel_pt = read_intel_pt();
  machine.tracefs = find_tracefs();
  machine.kernel_readable = kernel_is_readable();
  machine.rights = parse_rights(read_text("/proc/self/status").value_or(""));
  if (!perf.empty()) {
    std::array<char, 64> attribute{};
    const ssize_t size =
        ::getxattr(perf.c_str(), "security.capability", attribute.data(), attribute.size());
    if (size > 0) {
      const Rights given = parse_file_capabilities(
          std::string_view(attribute.data(), static_cast<std::size_t>(size)));
      machine.rights.perfmon |= given.perfmon;
      machine.rights.sys_ptrace |= given.sys_ptrace;
      machine.rights.ipc_lock |= given.ipc_lock;
    }
  }
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
