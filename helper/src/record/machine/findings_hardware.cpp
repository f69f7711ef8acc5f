// The doctor's findings about the processor, hypervisors and containers. Sources: /proc/cpuinfo,
// the device's capabilities (Documentation/ABI/testing/sysfs-bus-event_source-devices-caps), and
// files that hypervisors and container runtimes create.
#include "record/machine/findings.hpp"
#include "record/processes/files.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <system_error>

namespace ptlens::record {
namespace {

using State = Finding::State;

// Returns the value of the first line "name : value" of /proc/cpuinfo.
std::string cpu_field(const std::string& cpuinfo, std::string_view name) {
  const std::size_t line = cpuinfo.find(name);
  const std::size_t colon = line == std::string::npos ? line : cpuinfo.find(": ", line);
  if (colon == std::string::npos) {
    return {};
  }
  return cpuinfo.substr(colon + 2, cpuinfo.find('\n', colon) - colon - 2);
}

bool has_flag(const Facts& facts, std::string_view flag) {
  return fmt::format(" {} ", cpu_field(facts.cpuinfo, "flags")).find(fmt::format(" {} ", flag)) !=
         std::string::npos;
}

bool has_hypervisor(const Facts& facts) {
  return has_flag(facts, "hypervisor");
}

std::string first_line(const std::string& path) {
  const std::string text = read_text(path, 256).value_or("");
  return text.substr(0, text.find('\n'));
}

bool exists(const std::string& path) {
  std::error_code failed;
  return std::filesystem::exists(path, failed);
}

// Returns the evidence that ptlens runs in a container, or an empty string.
std::string container_sign(const std::string& root) {
  for (const char* file : {"/.dockerenv", "/run/.containerenv", "/run/systemd/container"}) {
    if (exists(root + file)) {
      return file;
    }
  }
  const std::string groups = read_text(root + "/proc/1/cgroup", 65536).value_or("");
  constexpr std::array<std::string_view, 5> signs = {"/docker", "/kubepods", "/lxc", "/containerd",
                                                     "/machine.slice/libpod"};
  for (const std::string_view sign : signs) {
    if (groups.find(sign) != std::string::npos) {
      return fmt::format("{} in /proc/1/cgroup", sign);
    }
  }
  const std::string environment = read_text(root + "/proc/1/environ", 65536).value_or("");
  for (std::size_t at = 0; at < environment.size();) {
    const std::size_t end = std::min(environment.find('\0', at), environment.size());
    const std::string_view entry = std::string_view(environment).substr(at, end - at);
    if (entry.starts_with("container=")) {
      return fmt::format("{} in the environment of process 1", entry);
    }
    at = end + 1;
  }
  return {};
}

} // namespace

Finding find_intel_pt(const Facts& facts) {
  Finding finding{.id = "intel_pt",
                  .title = "Intel Processor Trace",
                  .why = "Intel PT traces every call while the program runs at nearly full speed"};
  const std::string processor = cpu_field(facts.cpuinfo, "model name");
  if (facts.machine.intel_pt) {
    finding.detail = fmt::format("{}: the kernel provides the device intel_pt", processor);
    return finding;
  }
  finding.state = State::missing;
  finding.detail = fmt::format("{}: the kernel provides no device intel_pt", processor);
  if (has_flag(facts, "intel_pt")) {
    finding.detail = fmt::format(
        "{}: the processor supports Intel PT, but the kernel provides no device intel_pt",
        processor);
    finding.remedy =
        "use a kernel with CONFIG_PERF_EVENTS=y and CONFIG_CPU_SUP_INTEL=y. If KVM runs "
        "with pt_mode=1, Intel PT is reserved for its guests: run the commands below";
    finding.temporary = "sudo modprobe -r kvm_intel && sudo modprobe kvm_intel pt_mode=0";
    finding.permanent = "echo 'options kvm_intel pt_mode=0' | sudo tee "
                        "/etc/modprobe.d/ptlens-kvm.conf";
  } else if (cpu_field(facts.cpuinfo, "vendor_id") != "GenuineIntel") {
    finding.remedy = "use an Intel processor of the 5th generation or later; on this machine, "
                     "ptlens can measure with probes";
  } else if (has_hypervisor(facts)) {
    finding.remedy = "enable Intel PT for this virtual machine. On a KVM host, run the commands "
                     "below and start the machine with -cpu host,intel-pt=on. Other hypervisors "
                     "have a setting of their own or do not support it";
    finding.temporary = "sudo modprobe -r kvm_intel && sudo modprobe kvm_intel pt_mode=1";
    finding.permanent = "echo 'options kvm_intel pt_mode=1' | sudo tee "
                        "/etc/modprobe.d/ptlens-kvm.conf";
  } else {
    finding.remedy = "enable Intel PT in the firmware, and use a kernel with CONFIG_PERF_EVENTS=y; "
                     "processors before the 5th generation do not support it";
  }
  return finding;
}

std::optional<Finding> find_timing_packets(const Facts& facts) {
  if (!facts.machine.intel_pt) {
    return std::nullopt;
  }
  const IntelPtCapabilities& has = *facts.machine.intel_pt;
  Finding finding{.id = "timing_packets",
                  .title = "Timing packets",
                  .why = "cycle packets (CYC) time calls to a few nanoseconds, and crystal clock "
                         "packets (MTC) to a few hundred. Without both, the trace contains only "
                         "occasional time stamps"};
  const auto yes_or_no = [](bool supported) { return supported ? "yes" : "no"; };
  finding.detail =
      fmt::format("CYC {}, MTC {} (periods {:#x}), PSB periods {:#x}", yes_or_no(has.cycle_packets),
                  yes_or_no(has.mini_time_counter), has.mtc_periods, has.psb_periods);
  if (!has.cycle_packets) {
    finding.state = has.mini_time_counter ? State::limited : State::missing;
    finding.remedy = "times are less precise on this processor, and ptlens shows the uncertainty "
                     "beside each figure; for precise times, use a 6th generation processor or "
                     "later";
  }
  return finding;
}

std::optional<Finding> find_address_filters(const Facts& facts) {
  if (!facts.machine.intel_pt) {
    return std::nullopt;
  }
  const IntelPtCapabilities& has = *facts.machine.intel_pt;
  Finding finding{.id = "address_filters",
                  .title = "Address filters",
                  .why =
                      "a filter traces only one function and reduces the data to a fifth or less"};
  const std::uint32_t ranges = has.ip_filtering ? has.address_filters : 0;
  finding.detail = fmt::format("{} {}", ranges, ranges == 1 ? "range" : "ranges");
  if (ranges == 0) {
    finding.state = State::limited;
    finding.remedy = "--filter is not available: record for a shorter time or fewer threads";
  }
  return finding;
}

Finding find_virtual_machine(const Facts& facts) {
  Finding finding{.id = "virtual_machine",
                  .title = "Virtual machine",
                  .why = "hypervisors rarely provide Intel PT, and they make probes slower"};
  std::string maker = first_line(facts.root + "/sys/class/dmi/id/sys_vendor");
  maker = maker.empty() ? first_line(facts.root + "/sys/hypervisor/type") : maker;
  if (has_hypervisor(facts)) {
    finding.state = State::limited;
    finding.detail = maker.empty() ? "this machine is virtual"
                                   : fmt::format("this machine is virtual (hypervisor: {})", maker);
    finding.remedy = "measure on a physical machine for the most precise times";
  } else {
    finding.detail = "this machine is physical";
  }
  return finding;
}

Finding find_container(const Facts& facts) {
  Finding finding{.id = "container",
                  .title = "Container",
                  .why = "a container hides the processes outside it, rarely has tracefs mounted, "
                         "and is subject to the host's settings"};
  const std::string sign = container_sign(facts.root);
  if (sign.empty()) {
    finding.detail = "ptlens does not run in a container";
    return finding;
  }
  finding.state = State::limited;
  finding.detail = fmt::format("ptlens runs in a container ({})", sign);
  finding.remedy = "run ptlens on the host, where it also finds the files of processes in "
                   "containers; or start this container with the command below";
  finding.temporary = "docker run --privileged --pid=host -v "
                      "/sys/kernel/tracing:/sys/kernel/tracing IMAGE";
  return finding;
}

} // namespace ptlens::record
