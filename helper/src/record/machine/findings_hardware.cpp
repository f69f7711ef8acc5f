// The doctor's findings about the processor and what stands between it and us: /proc/cpuinfo, the
// device's capabilities (Documentation/ABI/testing/sysfs-bus-event_source-devices-caps), and the
// traces that hypervisors and containers leave.
#include "record/machine/findings.hpp"
#include "record/machine/proc.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <system_error>

namespace ptlens::record {
namespace {

using State = Finding::State;

// The value of a line "name : value" of /proc/cpuinfo.
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

// What says that this is a container, empty where nothing does.
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
  const Words& say = facts.say;
  Finding finding{.id = "intel_pt",
                  .title = say("Intel Processor Trace"),
                  .why = say("traces every call of a program at nearly its own speed")};
  const std::string processor = cpu_field(facts.cpuinfo, "model name");
  if (facts.machine.intel_pt) {
    finding.detail = say("{0}: the device intel_pt is there", processor);
    return finding;
  }
  finding.state = State::missing;
  finding.detail = say("{0}: no device intel_pt", processor);
  if (has_flag(facts, "intel_pt")) {
    finding.detail = say("{0}: the processor has it, the kernel offers no device", processor);
    finding.remedy =
        say("use a kernel with CONFIG_PERF_EVENTS=y and CONFIG_CPU_SUP_INTEL=y; where KVM "
            "runs with pt_mode=1, the guests have it and the host has not: the commands "
            "below");
    finding.temporary = "sudo modprobe -r kvm_intel && sudo modprobe kvm_intel pt_mode=0";
    finding.permanent = "echo 'options kvm_intel pt_mode=0' | sudo tee "
                        "/etc/modprobe.d/ptlens-kvm.conf";
  } else if (cpu_field(facts.cpuinfo, "vendor_id") != "GenuineIntel") {
    finding.remedy =
        say("use an Intel processor of the 5th generation or later; here, probes measure");
  } else if (has_hypervisor(facts)) {
    finding.remedy =
        say("let the hypervisor pass Intel PT on: on a KVM host, the commands below and "
            "-cpu host,intel-pt=on for this machine; other hypervisors have a switch of "
            "their own or none");
    finding.temporary = "sudo modprobe -r kvm_intel && sudo modprobe kvm_intel pt_mode=1";
    finding.permanent = "echo 'options kvm_intel pt_mode=1' | sudo tee "
                        "/etc/modprobe.d/ptlens-kvm.conf";
  } else {
    finding.remedy = say("switch Intel PT on in the firmware, and use a kernel with "
                         "CONFIG_PERF_EVENTS=y; processors before the 5th generation have none");
  }
  return finding;
}

std::optional<Finding> find_timing_packets(const Facts& facts) {
  const Words& say = facts.say;
  if (!facts.machine.intel_pt) {
    return std::nullopt;
  }
  const IntelPtCapabilities& has = *facts.machine.intel_pt;
  Finding finding{.id = "timing_packets",
                  .title = say("Timing packets"),
                  .why =
                      say("cycle packets time calls to some nanoseconds, crystal packets (MTC) to "
                          "some hundred; without either only a time stamp now and then is left")};
  finding.detail = say(
      "cycle packets {0}, crystal packets {1} (periods {2}), distances of "
      "synchronisation {3}",
      has.cycle_packets ? say("yes") : say("no"), has.mini_time_counter ? say("yes") : say("no"),
      fmt::format("{:#x}", has.mtc_periods), fmt::format("{:#x}", has.psb_periods));
  if (!has.cycle_packets) {
    finding.state = has.mini_time_counter ? State::limited : State::missing;
    finding.remedy = say("times are coarser on this processor, which each figure says beside it; "
                         "measure on a 6th generation processor or later for finer ones");
  }
  return finding;
}

std::optional<Finding> find_address_filters(const Facts& facts) {
  const Words& say = facts.say;
  if (!facts.machine.intel_pt) {
    return std::nullopt;
  }
  const IntelPtCapabilities& has = *facts.machine.intel_pt;
  Finding finding{.id = "address_filters",
                  .title = say("Address filters"),
                  .why = say("trace one function alone, for a fifth of the data or less")};
  const std::uint32_t ranges = has.ip_filtering ? has.address_filters : 0;
  finding.detail = say("{0} ranges", std::to_string(ranges));
  if (ranges == 0) {
    finding.state = State::limited;
    finding.remedy = say("record for a shorter time or fewer threads instead of with --filter");
  }
  return finding;
}

Finding find_virtual_machine(const Facts& facts) {
  const Words& say = facts.say;
  Finding finding{.id = "virtual_machine",
                  .title = say("Virtual machine"),
                  .why = say("a hypervisor rarely passes Intel PT on, and makes probes slower")};
  std::string maker = first_line(facts.root + "/sys/class/dmi/id/sys_vendor");
  maker = maker.empty() ? first_line(facts.root + "/sys/hypervisor/type") : maker;
  if (has_hypervisor(facts)) {
    finding.state = State::limited;
    finding.detail = maker.empty() ? say("runs under a hypervisor")
                                   : say("runs under a hypervisor of {0}", maker);
    finding.remedy = say("measure on the machine itself for the finest times");
  } else {
    finding.detail = say("runs on the machine itself");
  }
  return finding;
}

Finding find_container(const Facts& facts) {
  const Words& say = facts.say;
  Finding finding{.id = "container",
                  .title = say("Container"),
                  .why =
                      say("inside one, processes outside are not seen, tracefs is rarely mounted, "
                          "and the host's settings bind")};
  const std::string sign = container_sign(facts.root);
  if (sign.empty()) {
    finding.detail = say("none");
    return finding;
  }
  finding.state = State::limited;
  finding.detail = say("this is one ({0})", sign);
  finding.remedy =
      say("run ptlens on the host (it finds the files of containers' processes), or give "
          "this container what it needs: the command below");
  finding.temporary = "docker run --privileged --pid=host -v "
                      "/sys/kernel/tracing:/sys/kernel/tracing IMAGE";
  return finding;
}

} // namespace ptlens::record
