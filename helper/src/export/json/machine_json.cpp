// The JSON of the machine's state.
#include "export/json/machine_json.hpp"

#include "base/words.hpp"
#include "protocol/messages.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace ptlens::exporting {

namespace {

using FindingState = record::Finding::State;

constexpr Word<FindingState> finding_words[] = {{FindingState::fine, "fine"},
                                                {FindingState::limited, "limited"},
                                                {FindingState::missing, "missing"}};

} // namespace

Json doctor_json(const record::Diagnosis& diagnosis) {
  protocol::DoctorResult result{.backend = diagnosis.backend, .findings = {}};
  for (const record::Finding& finding : diagnosis.findings) {
    result.findings.push_back({.id = finding.id,
                               .title = finding.title,
                               .state = word_of(finding_words, finding.state),
                               .detail = finding.detail,
                               .why = finding.why,
                               .remedy = finding.remedy,
                               .temporary = finding.temporary,
                               .permanent = finding.permanent});
  }
  return to_json(result);
}

Json processes_json(std::span<const record::Process> processes) {
  protocol::ProcessesResult result;
  for (const record::Process& process : processes) {
    result.processes.push_back({.pid = process.pid,
                                .start_time = process.start_time,
                                .user = process.user,
                                .name = process.name,
                                .command = process.command,
                                .executable = process.executable,
                                .age_s = process.age_s,
                                .cpu_percent = process.cpu_percent,
                                .threads = process.threads,
                                .container = process.container,
                                .may_attach = process.may_attach,
                                .has_source = process.has_source,
                                .rebuilt = process.rebuilt});
  }
  return to_json(result);
}

Json threads_json(std::span<const record::Thread> threads) {
  protocol::ThreadsResult result;
  for (const record::Thread& thread : threads) {
    result.threads.push_back(
        {.tid = thread.tid, .name = thread.name, .cpu_percent = thread.cpu_percent});
  }
  return to_json(result);
}

} // namespace ptlens::exporting
