// The doctor's findings about rights: capabilities(7), Documentation/admin-guide/sysctl/kernel.rst,
// Documentation/admin-guide/LSM/Yama.rst, kernel_lockdown(7).
#include "record/machine/findings.hpp"
#include "record/machine/proc.hpp"

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

} // namespace

void advise_setting(Finding& finding, std::string_view name, long long value) {
  finding.temporary = fmt::format("sudo sysctl {}={}", name, value);
  finding.permanent = fmt::format("echo '{} = {}' | sudo tee /etc/sysctl.d/90-ptlens-{}.conf", name,
                                  value, name.substr(name.rfind('.') + 1));
  finding.remedy = finding.temporary;
}

Finding find_rights(const Facts& facts) {
  const Words& say = facts.say;
  const Rights& rights = facts.machine.rights;
  Finding finding{.id = "rights",
                  .title = say("Rights"),
                  .why = say("processes of other users and probes need more than a user's rights")};
  if (rights.root) {
    finding.detail = say("root");
    return finding;
  }
  if (rights.perfmon && rights.sys_ptrace) {
    finding.detail = say("cap_perfmon and cap_sys_ptrace: any process by Intel PT; no probes");
    return finding;
  }
  finding.state = State::limited;
  if (rights.named_root) {
    finding.detail = say("root by name alone: the capabilities were dropped, or count in this user "
                         "namespace only");
    finding.remedy =
        say("run ptlens as root of the machine, outside the namespace; in a container, "
            "with --privileged");
    return finding;
  }
  finding.detail = rights.perfmon ? say("cap_perfmon: own processes only, no probes")
                                  : say("an ordinary user: own processes only, no probes");
  finding.remedy = setcap(facts);
  finding.temporary = "sudo ptlens record ...";
  finding.permanent = setcap(facts);
  return finding;
}

Finding find_perf_rights(const Facts& facts) {
  const Words& say = facts.say;
  Finding finding{.id = "perf_rights",
                  .title = say("Capabilities of perf"),
                  .why =
                      say("let a group of users trace any process with buffers of any size, while "
                          "ptlens and the program stay without rights")};
  const Rights given = file_rights(facts.perf);
  if (facts.machine.rights.root) {
    finding.detail = say("not needed: we are root");
    return finding;
  }
  if (given.perfmon && given.sys_ptrace && given.ipc_lock) {
    finding.detail = say("cap_perfmon, cap_sys_ptrace and cap_ipc_lock");
    return finding;
  }
  finding.state = State::limited;
  finding.detail = given.perfmon || given.sys_ptrace || given.ipc_lock ? say("some") : say("none");
  if (is_script(facts.perf)) {
    finding.detail += "; " + say("{0} is a script, on which they do not work", facts.perf);
  }
  finding.remedy = setcap(facts);
  finding.permanent = finding.remedy;
  return finding;
}

Finding find_paranoid(const Facts& facts) {
  const Words& say = facts.say;
  Finding finding{
      .id = "paranoid",
      .title = "perf_event_paranoid",
      .detail = std::to_string(facts.machine.paranoid),
      .why = say("says what users without rights may measure: their own processes up to 2, "
                 "the kernel up to 1, whole CPUs up to 0")};
  if (!read_number(facts.root + "/proc/sys/kernel/perf_event_paranoid")) {
    finding.state = State::missing;
    finding.detail = say("the kernel has no perf events");
    finding.remedy = say("use a kernel with CONFIG_PERF_EVENTS=y");
  } else if (facts.machine.rights.root || facts.machine.rights.perfmon) {
    finding.detail = say("{0}, which does not bind us: we may measure everything", finding.detail);
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
  const Words& say = facts.say;
  const std::int64_t restricted =
      read_number(facts.root + "/proc/sys/kernel/kptr_restrict").value_or(0);
  Finding finding{.id = "kptr",
                  .title = "kptr_restrict",
                  .detail = std::to_string(restricted),
                  .why = say("kernel functions have no names where their addresses are hidden")};
  const int allowed = facts.machine.rights.root ? 1 : 0;
  if (restricted > allowed) {
    finding.state = State::limited;
    advise_setting(finding, "kernel.kptr_restrict", allowed);
  }
  return finding;
}

Finding find_attaching(const Facts& facts) {
  const Words& say = facts.say;
  const auto scope = read_number(facts.root + "/proc/sys/kernel/yama/ptrace_scope");
  Finding finding{.id = "ptrace_scope",
                  .title = "ptrace_scope",
                  .detail = scope ? std::to_string(*scope) : say("not restricted (no Yama)"),
                  .why = say("says to which running processes perf may attach")};
  const bool bound = !facts.machine.rights.root && !facts.machine.rights.sys_ptrace;
  if (scope.value_or(0) > 0 && bound) {
    finding.state = State::limited;
    if (*scope > 2) { // cannot be set back while the machine runs
      finding.remedy = say("have ptlens start the program (ptlens record -- PROGRAM), or start the "
                           "machine with a smaller value");
      finding.permanent = "echo 'kernel.yama.ptrace_scope = 0' | sudo tee "
                          "/etc/sysctl.d/90-ptlens-ptrace_scope.conf";
    } else {
      advise_setting(finding, "kernel.yama.ptrace_scope", 0);
    }
  }
  return finding;
}

Finding find_buffers(const Facts& facts) {
  const Words& say = facts.say;
  Finding finding{.id = "mlock",
                  .title = "perf_event_mlock_kb",
                  .detail = say("{0} KiB for each CPU", std::to_string(facts.machine.mlock_kb)),
                  .why = say("bounds the trace buffer; a small one loses trace")};
  constexpr std::uint64_t comfortable_kb = 8192;
  if (facts.machine.rights.root || facts.machine.rights.ipc_lock) {
    finding.detail = say("{0}, which does not bind us", finding.detail);
  } else if (facts.machine.mlock_kb < comfortable_kb) {
    finding.state = State::limited;
    advise_setting(finding, "kernel.perf_event_mlock_kb", comfortable_kb);
  }
  return finding;
}

std::optional<Finding> find_lockdown(const Facts& facts) {
  const Words& say = facts.say;
  const std::string text =
      read_text(facts.root + "/sys/kernel/security/lockdown", 256).value_or("");
  const std::size_t open = text.find('[');
  const std::string mode =
      open == std::string::npos ? "" : text.substr(open + 1, text.find(']', open) - open - 1);
  if (mode.empty() || mode == "none") {
    return std::nullopt;
  }
  Finding finding{.id = "lockdown",
                  .title = say("Kernel lockdown"),
                  .state = State::limited,
                  .detail = mode,
                  .why = say("keeps even root from reading kernel memory, and in its mode "
                             "confidentiality from perf and probes")};
  if (mode == "confidentiality") {
    finding.state = State::missing;
  }
  finding.remedy = say("start the machine without lockdown={0}, or without Secure Boot", mode);
  return finding;
}

} // namespace ptlens::record
