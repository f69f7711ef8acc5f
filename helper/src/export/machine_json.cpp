// The JSON of what can be measured here.
#include "export/machine_json.hpp"

#include <utility>

namespace ptlens::exporting {

Json doctor_json(const record::Diagnosis& diagnosis) {
  Json findings = Json::array();
  for (const record::Finding& finding : diagnosis.findings) {
    const char* state = finding.state == record::Finding::State::fine      ? "fine"
                        : finding.state == record::Finding::State::limited ? "limited"
                                                                           : "missing";
    findings.push_back({{"id", finding.id},
                        {"title", finding.title},
                        {"state", state},
                        {"detail", finding.detail},
                        {"why", finding.why},
                        {"remedy", finding.remedy},
                        {"temporary", finding.temporary},
                        {"permanent", finding.permanent}});
  }
  return {{"backend", diagnosis.backend}, {"findings", std::move(findings)}};
}

Json processes_json(std::span<const record::Process> processes) {
  Json list = Json::array();
  for (const record::Process& process : processes) {
    list.push_back({{"pid", process.pid},
                    {"start_time", process.start_time},
                    {"user", process.user},
                    {"name", process.name},
                    {"command", process.command},
                    {"executable", process.executable},
                    {"age_s", process.age_s},
                    {"cpu_percent", process.cpu_percent},
                    {"threads", process.threads},
                    {"container", process.container},
                    {"may_attach", process.may_attach},
                    {"has_source", process.has_source},
                    {"rebuilt", process.rebuilt}});
  }
  return {{"processes", std::move(list)}};
}

Json threads_json(std::span<const record::Thread> threads) {
  Json list = Json::array();
  for (const record::Thread& thread : threads) {
    list.push_back(
        {{"tid", thread.tid}, {"name", thread.name}, {"cpu_percent", thread.cpu_percent}});
  }
  return {{"threads", std::move(list)}};
}

} // namespace ptlens::exporting
