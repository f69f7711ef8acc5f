// What this machine can measure. Each finding reads one thing and, where it falls short, names the
// command that changes it; nothing is changed here.
#include "record/doctor.hpp"

#include "record/child.hpp"
#include "record/machine.hpp"
#include "record/proc.hpp"
#include "symbols/binary.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <sys/statvfs.h>
#include <system_error>
#include <unistd.h>

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

bool has_flag(const std::string& cpuinfo, std::string_view flag) {
  return fmt::format(" {} ", cpu_field(cpuinfo, "flags")).find(fmt::format(" {} ", flag)) !=
         std::string::npos;
}

Finding intel_pt(const Machine& machine, const std::string& cpuinfo) {
  Finding finding{.id = "intel_pt",
                  .title = "Intel Processor Trace",
                  .why = "traces every call of a program at nearly its own speed"};
  const std::string processor = cpu_field(cpuinfo, "model name");
  if (machine.intel_pt) {
    const IntelPtCapabilities& capabilities = *machine.intel_pt;
    finding.detail = fmt::format("{}: cycle packets {}, time packets {}, address filters {}",
                                 processor, capabilities.cycle_packets ? "yes" : "no",
                                 capabilities.mini_time_counter ? "yes" : "no",
                                 capabilities.ip_filtering ? capabilities.address_filters : 0);
    if (!capabilities.cycle_packets) {
      finding.state = State::limited;
      finding.remedy = "times are coarser on this processor; nothing can be done about it";
    }
    return finding;
  }
  finding.state = State::missing;
  const bool intel = cpu_field(cpuinfo, "vendor_id") == "GenuineIntel";
  finding.detail = fmt::format("{}: no device intel_pt", processor);
  if (!intel) {
    finding.remedy = "use an Intel processor of the 5th generation or later; here, probes measure";
  } else if (has_flag(cpuinfo, "hypervisor")) {
    finding.remedy = "let the hypervisor pass Intel PT to this machine (KVM on a host with "
                     "pt_mode=1: sudo modprobe kvm_intel pt_mode=1, and -cpu host,intel-pt=on)";
  } else {
    finding.remedy = "switch Intel PT on in the firmware, and use a kernel with "
                     "CONFIG_PERF_EVENTS=y";
  }
  return finding;
}

Finding virtual_machine(const std::string& cpuinfo) {
  Finding finding{.id = "virtual_machine",
                  .title = "Virtual machine",
                  .why = "a hypervisor rarely passes Intel PT on, and makes probes slower"};
  if (has_flag(cpuinfo, "hypervisor")) {
    finding.state = State::limited;
    finding.detail = "runs under a hypervisor";
    finding.remedy = "measure on the machine itself for the finest times";
  } else {
    finding.detail = "runs on the machine itself";
  }
  return finding;
}

Finding perf_program(const std::string& perf, const std::string& asked) {
  Finding finding{.id = "perf", .title = "perf", .why = "records for both backends"};
  constexpr std::chrono::milliseconds limit(5'000);
  const auto version = perf.empty() ? Result<std::string>(std::unexpected(Error{}))
                                    : run({perf, "--version"}, limit);
  if (version) {
    finding.detail =
        fmt::format("{}: {}", perf, version->substr(0, version->find_last_not_of("\r\n") + 1));
    return finding;
  }
  finding.state = State::missing;
  finding.detail = perf.empty() ? fmt::format("{} not found", asked.empty() ? "perf" : asked)
                                : version.error().one_line();
  finding.remedy = "sudo apt-get install linux-perf";
  return finding;
}

Finding paranoid(const Machine& machine) {
  Finding finding{.id = "paranoid",
                  .title = "perf_event_paranoid",
                  .detail = std::to_string(machine.paranoid),
                  .why = "says what users without rights may measure: their own processes up to 2, "
                         "the kernel up to 1, probes at -1"};
  if (machine.rights.root || machine.rights.perfmon) {
    finding.detail += ", which does not bind us: we may measure everything";
  } else if (machine.paranoid > 2) {
    finding.state = State::missing;
    finding.remedy = "sudo sysctl kernel.perf_event_paranoid=2";
  } else if (machine.paranoid > -1) {
    finding.state = State::limited;
    finding.remedy = "sudo sysctl kernel.perf_event_paranoid=-1";
  }
  return finding;
}

Finding kernel_addresses(const Machine& machine) {
  const std::int64_t restricted = read_number("/proc/sys/kernel/kptr_restrict").value_or(0);
  Finding finding{.id = "kptr",
                  .title = "kptr_restrict",
                  .detail = std::to_string(restricted),
                  .why = "kernel functions have no names where their addresses are hidden"};
  if (restricted > (machine.rights.root ? 1 : 0)) {
    finding.state = State::limited;
    finding.remedy =
        fmt::format("sudo sysctl kernel.kptr_restrict={}", machine.rights.root ? 1 : 0);
  }
  return finding;
}

Finding attaching(const Machine& machine) {
  const auto scope = read_number("/proc/sys/kernel/yama/ptrace_scope");
  Finding finding{.id = "ptrace_scope",
                  .title = "ptrace_scope",
                  .detail = scope ? std::to_string(*scope) : "not restricted (no Yama)",
                  .why = "says to which running processes perf may attach"};
  const bool bound = !machine.rights.root && !machine.rights.sys_ptrace;
  if (scope.value_or(0) > 0 && bound) {
    finding.state = State::limited;
    finding.remedy = "sudo sysctl kernel.yama.ptrace_scope=0";
  }
  return finding;
}

Finding buffers(const Machine& machine) {
  Finding finding{.id = "mlock",
                  .title = "perf_event_mlock_kb",
                  .detail = fmt::format("{} KiB for each CPU", machine.mlock_kb),
                  .why = "bounds the trace buffer; a small one loses trace"};
  constexpr std::uint64_t comfortable_kb = 8192;
  if (machine.rights.root || machine.rights.ipc_lock) {
    finding.detail += ", which does not bind us";
  } else if (machine.mlock_kb < comfortable_kb) {
    finding.state = State::limited;
    finding.remedy = fmt::format("sudo sysctl kernel.perf_event_mlock_kb={}", comfortable_kb);
  }
  return finding;
}

Finding uprobes(const Machine& machine) {
  Finding finding{.id = "uprobes",
                  .title = "User-space probes",
                  .why = "measure calls live where there is no Intel PT"};
  if (machine.tracefs.empty()) {
    finding.state = State::missing;
    finding.detail = "tracefs is not mounted";
    finding.remedy = "sudo mount -t tracefs nodev /sys/kernel/tracing";
    return finding;
  }
  const std::string file = machine.tracefs + "/uprobe_events";
  if (::access(file.c_str(), W_OK) == 0) {
    finding.detail = file + " may be written";
    return finding;
  }
  finding.state = State::missing;
  if (errno == ENOENT) {
    finding.detail = "the kernel has no " + file;
    finding.remedy = "use a kernel with CONFIG_UPROBE_EVENTS=y";
  } else {
    finding.detail = file + " may not be written";
    finding.remedy = "run the measurement with sudo";
  }
  return finding;
}

Finding rights(const Machine& machine) {
  Finding finding{.id = "rights",
                  .title = "Rights",
                  .why = "processes of other users and probes need more than a user's rights"};
  if (machine.rights.root) {
    finding.detail = "root";
  } else if (machine.rights.perfmon) {
    finding.detail = "cap_perfmon";
  } else {
    finding.state = State::limited;
    finding.detail = "an ordinary user: own processes only, no probes";
    finding.remedy = "sudo setcap cap_perfmon,cap_sys_ptrace,cap_syslog,cap_ipc_lock+ep "
                     "$(readlink -f $(command -v perf))";
  }
  return finding;
}

Finding disk() {
  Finding finding{.id = "disk",
                  .title = "Room on disk",
                  .why = "a trace grows by up to some hundred MB a second and core"};
  std::error_code failed;
  const std::string folder = std::filesystem::current_path(failed).string();
  struct statvfs status{};
  if (failed || ::statvfs(folder.c_str(), &status) != 0) {
    finding.state = State::limited;
    finding.detail = "the room in the working directory is not known";
    finding.remedy = "record into a directory that exists";
    return finding;
  }
  constexpr double gib = 1024.0 * 1024 * 1024;
  const double room = static_cast<double>(status.f_bavail) * static_cast<double>(status.f_frsize);
  finding.detail = fmt::format("{:.1f} GiB free at {}", room / gib, folder);
  if (room < gib) {
    finding.state = State::limited;
    finding.remedy = "free some room, or record to another disk with -o";
  }
  return finding;
}

Finding debug_information(const std::string& path) {
  Finding finding{.id = "debug_info",
                  .title = "Debug information",
                  .why = "without it functions have no source lines, without symbols no names"};
  const auto binary = symbols::Binary::open(path);
  if (!binary) {
    finding.state = State::missing;
    finding.detail = binary.error().one_line();
    finding.remedy = "name an ELF file that may be read";
  } else if ((*binary)->has_debug_info()) {
    finding.detail =
        fmt::format("{}: {} functions with lines", path, (*binary)->functions().size());
  } else {
    finding.state = (*binary)->functions().empty() ? State::missing : State::limited;
    finding.detail = fmt::format("{}: {} functions, no lines", path, (*binary)->functions().size());
    finding.remedy = "compile with -g, and do not strip the binary";
  }
  return finding;
}

} // namespace

Diagnosis diagnose(const std::string& perf, const std::string& binary) {
  const std::string program = find_program(perf.empty() ? "perf" : perf);
  const Machine machine = read_machine(program);
  const std::string cpuinfo = read_text("/proc/cpuinfo", 65536).value_or("");
  Diagnosis diagnosis;
  std::vector<Finding>& findings = diagnosis.findings;
  findings.push_back(intel_pt(machine, cpuinfo));
  findings.push_back(virtual_machine(cpuinfo));
  findings.push_back(perf_program(program, perf));
  const bool has_perf = findings.back().state == State::fine;
  findings.push_back(paranoid(machine));
  const State allowed = findings.back().state;
  findings.push_back(kernel_addresses(machine));
  findings.push_back(attaching(machine));
  findings.push_back(buffers(machine));
  findings.push_back(uprobes(machine));
  const bool has_probes = findings.back().state == State::fine;
  findings.push_back(rights(machine));
  findings.push_back(disk());
  if (!binary.empty()) {
    findings.push_back(debug_information(binary));
  }
  if (has_perf && machine.intel_pt && allowed != State::missing) {
    diagnosis.backend = "intel_pt";
  } else if (has_perf && has_probes && allowed == State::fine) {
    diagnosis.backend = "uprobe";
  } else {
    diagnosis.backend = "none";
  }
  return diagnosis;
}

} // namespace ptlens::record
