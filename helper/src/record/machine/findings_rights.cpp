// The doctor's findings about permissions: capabilities(7),
// Documentation/admin-guide/sysctl/kernel.rst, Documentation/admin-guide/LSM/Yama.rst,
// kernel_lockdown(7).
#include "record/machine/findings.hpp"
#include "record/processes/files.hpp"

#include <fmt/format.h>

#include <fstream>

namespace ptlens::record {
namespace {

using State = Finding::State;

constexpr const char* wanted = "cap_perfmon,cap_sys_ptrace,cap_syslog,cap_ipc_lock+ep";

bool is_script(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return file.get() == '#' && file.get() == '!';
}

std::string setcap(const Facts& facts) {
  return fmt::format("sudo setcap {} {}", wanted,
                     facts.perf.empty() || is_script(facts.perf)
                         ? "$(readlink -f /usr/lib/linux-tools/*/perf | tail -n 1)"
                         : fmt::format("$(readlink -f {})", facts.perf));
}

std::string not_a_limit(const std::string& value) {
  return fmt::format("{} (does not apply to you: you can measure everything)", value);
}

} // namespace

void advise_setting(Finding& finding, std::string_view name, long long value) {
  finding.temporary = fmt::format("sudo sysctl {}={}", name, value);
  finding.permanent = fmt::format("echo '{} = {}' | sudo tee /etc/sysctl.d/90-ptlens-{}.conf", name,
                                  value, name.substr(name.rfind('.') + 1));
  finding.remedy = finding.temporary;
}

Finding find_rights(const Facts& facts) {
  const Rights& rights = facts.machine.rights;
  Finding finding{.id = "rights",
                  .title = "Permissions",
                  .why = "recording other users' processes and setting probes require more "
                         "permissions than an ordinary user has"};
  if (rights.root) {
    finding.detail = "root";
    return finding;
  }
  if (rights.perfmon && rights.sys_ptrace) {
    finding.detail =
        "cap_perfmon and cap_sys_ptrace: Intel PT can record any process; probes are not available";
    return finding;
  }
  finding.state = State::limited;
  if (rights.named_root) {
    finding.detail =
        "user 0 without root's capabilities: they were dropped, or they are valid only "
        "in this user namespace";
    finding.remedy =
        "run ptlens as root of the machine, outside the user namespace; run a container "
        "with --privileged";
    return finding;
  }
  finding.detail = fmt::format("{}: only your own processes can be recorded, and probes are not "
                               "available",
                               rights.perfmon ? "cap_perfmon" : "an ordinary user");
  finding.remedy = setcap(facts);
  finding.temporary = "sudo ptlens record ...";
  finding.permanent = setcap(facts);
  return finding;
}

Finding find_perf_rights(const Facts& facts) {
  Finding finding{.id = "perf_rights",
                  .title = "Capabilities of perf",
                  .why = "with file capabilities on perf, users can trace any process with buffers "
                         "of any size, and neither ptlens nor the program needs permissions"};
  const Rights given = file_rights(facts.perf);
  if (facts.machine.rights.root) {
    finding.detail = "not needed: ptlens runs as root";
    return finding;
  }
  if (given.perfmon && given.sys_ptrace && given.ipc_lock) {
    finding.detail = "cap_perfmon, cap_sys_ptrace and cap_ipc_lock";
    return finding;
  }
  finding.state = State::limited;
  finding.detail =
      given.perfmon || given.sys_ptrace || given.ipc_lock ? "some are missing" : "none";
  if (is_script(facts.perf)) {
    finding.detail +=
        fmt::format("; {} is a script, and capabilities have no effect on scripts", facts.perf);
  }
  finding.remedy = setcap(facts);
  finding.permanent = finding.remedy;
  return finding;
}

Finding find_paranoid(const Facts& facts) {
  Finding finding{.id = "paranoid",
                  .title = "perf_event_paranoid",
                  .detail = std::to_string(facts.machine.paranoid),
                  .why = "this setting limits what ordinary users can measure: their own processes "
                         "up to 2, the kernel up to 1, whole CPUs up to 0"};
  if (!read_number(facts.root + "/proc/sys/kernel/perf_event_paranoid")) {
    finding.state = State::missing;
    finding.detail = "the kernel does not support perf events";
    finding.remedy = "use a kernel with CONFIG_PERF_EVENTS=y";
  } else if (facts.machine.rights.root || facts.machine.rights.perfmon) {
    finding.detail = not_a_limit(finding.detail);
  } else if (facts.machine.paranoid > 2) {
    finding.state = State::missing;
    advise_setting(finding, "kernel.perf_event_paranoid", 2);
  } else if (facts.machine.paranoid > 0) {
    finding.state = State::limited;
    advise_setting(finding, "kernel.perf_event_paranoid", 0);
  }
  return finding;
}

Finding find_kernel_addresses(const Facts& facts) {
  const std::int64_t restricted =
      read_number(facts.root + "/proc/sys/kernel/kptr_restrict").value_or(0);
  Finding finding{.id = "kptr",
                  .title = "kptr_restrict",
                  .detail = std::to_string(restricted),
                  .why = "while kernel addresses are hidden, kernel functions are shown without "
                         "names"};
  const int allowed = facts.machine.rights.root ? 1 : 0;
  if (restricted > allowed) {
    finding.state = State::limited;
    advise_setting(finding, "kernel.kptr_restrict", allowed);
  }
  return finding;
}

Finding find_attaching(const Facts& facts) {
  const auto scope = read_number(facts.root + "/proc/sys/kernel/yama/ptrace_scope");
  Finding finding{.id = "ptrace_scope",
                  .title = "ptrace_scope",
                  .detail = scope ? std::to_string(*scope)
                                  : "no restriction (the kernel does not use Yama)",
                  .why = "this setting limits the running processes that perf can attach to"};
  const bool limits = !facts.machine.rights.root && !facts.machine.rights.sys_ptrace;
  if (scope.value_or(0) > 0 && limits) {
    finding.state = State::limited;
    if (*scope > 2) { // the kernel does not allow lowering it until the next reboot
      finding.remedy = "let ptlens start the program (ptlens record -- PROGRAM), or reboot with a "
                       "smaller value";
      finding.permanent = "echo 'kernel.yama.ptrace_scope = 0' | sudo tee "
                          "/etc/sysctl.d/90-ptlens-ptrace_scope.conf";
    } else {
      advise_setting(finding, "kernel.yama.ptrace_scope", 0);
    }
  }
  return finding;
}

Finding find_buffers(const Facts& facts) {
  Finding finding{.id = "mlock",
                  .title = "perf_event_mlock_kb",
                  .detail = fmt::format("{} KiB per CPU", facts.machine.mlock_kb),
                  .why = "this setting limits the size of the trace buffer; a small buffer loses "
                         "trace"};
  constexpr std::uint64_t comfortable_kb = 8192;
  if (facts.machine.rights.root || facts.machine.rights.ipc_lock) {
    finding.detail = not_a_limit(finding.detail);
  } else if (facts.machine.mlock_kb < comfortable_kb) {
    finding.state = State::limited;
    advise_setting(finding, "kernel.perf_event_mlock_kb", comfortable_kb);
  }
  return finding;
}

std::optional<Finding> find_lockdown(const Facts& facts) {
  const std::string text =
      read_text(facts.root + "/sys/kernel/security/lockdown", 256).value_or("");
  const std::size_t open = text.find('[');
  const std::string mode =
      open == std::string::npos ? "" : text.substr(open + 1, text.find(']', open) - open - 1);
  if (mode.empty() || mode == "none") {
    return std::nullopt;
  }
  Finding finding{.id = "lockdown",
                  .title = "Kernel lockdown",
                  .state = State::limited,
                  .detail = mode,
                  .why = "lockdown prevents even root from reading kernel memory; its mode "
                         "confidentiality also disables perf and probes"};
  if (mode == "confidentiality") {
    finding.state = State::missing;
  }
  finding.remedy =
      fmt::format("reboot without the kernel parameter lockdown={}, or without Secure Boot", mode);
  return finding;
}

} // namespace ptlens::record
