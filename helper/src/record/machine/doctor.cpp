#include "record/machine/doctor.hpp"

#include "record/machine/findings.hpp"
#include "record/processes/files.hpp"

#include <algorithm>

namespace ptlens::record {

Diagnosis diagnose(const Checkup& checkup) {
  using State = Finding::State;
  Facts facts;
  facts.root = checkup.root;
  facts.requested_perf = checkup.perf;
  facts.perf = find_program(checkup.perf.empty() ? "perf" : checkup.perf);
  facts.machine = read_machine(facts.perf, checkup.root);
  facts.cpuinfo = read_text(checkup.root + "/proc/cpuinfo", 65536).value_or("");

  Diagnosis diagnosis;
  std::vector<Finding>& findings = diagnosis.findings;
  const auto add = [&findings](std::optional<Finding> finding) {
    if (finding) {
      findings.push_back(std::move(*finding));
    }
  };
  add(find_intel_pt(facts));
  add(find_timing_packets(facts));
  add(find_address_filters(facts));
  add(find_virtual_machine(facts));
  add(find_container(facts));
  add(find_perf(facts));
  add(find_perf_features(facts));
  add(find_rights(facts));
  add(find_perf_rights(facts));
  add(find_paranoid(facts));
  add(find_kernel_addresses(facts));
  add(find_attaching(facts));
  add(find_buffers(facts));
  add(find_lockdown(facts));
  add(find_tracefs(facts));
  add(find_uprobes(facts));
  add(find_wait_tracepoints(facts));
  if (checkup.root.empty()) { // programs of this machine
    add(find_uftrace());
  }
  add(find_disk_space(checkup.folder));
  if (!checkup.binary.empty()) {
    add(find_debug_information(checkup.binary));
  }

  const auto works = [&findings](std::string_view id) {
    const auto found = std::ranges::find(findings, id, &Finding::id);
    return found == findings.end() || found->state != State::missing;
  };
  const bool perf = works("perf") && works("perf_features") && works("lockdown");
  if (perf && works("intel_pt") && works("paranoid")) {
    diagnosis.backend = "intel_pt";
  } else if (perf && works("tracefs") && works("uprobes")) {
    diagnosis.backend = "uprobe";
  } else if (const auto uftrace = std::ranges::find(findings, "uftrace", &Finding::id);
             uftrace != findings.end() && uftrace->state == State::fine) {
    diagnosis.backend = "uftrace";
  } else {
    diagnosis.backend = "none";
  }
  return diagnosis;
}

} // namespace ptlens::record
