#include "export/json/recording_json.hpp"

#include "measure/statistics/statistics.hpp"
#include "measure/thread_rows.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace ptlens::exporting {

Json note_json(const Note& note) {
  return {{"code", note.code}, {"arguments", note.arguments}, {"text", note.text}};
}

Json recording_json(const measure::Measurement& measurement) {
  const measure::RecordingInfo& info = measurement.recording;
  Json missing = Json::array();
  for (const measure::MissingCode& code : info.missing) {
    missing.push_back({{"path", code.path}, {"build_id", code.build_id}, {"reason", code.reason}});
  }
  Json threads = Json::array();
  const std::vector<std::uint32_t> first = measure::first_rows(measurement.threads);
  for (std::uint32_t row = 0; row < first.size(); ++row) {
    if (first[row] != row) {
      continue;
    }
    const stacks::ThreadInfo& thread = measurement.threads[row];
    const std::uint64_t traced =
        thread.last_ns > thread.first_ns ? thread.last_ns - thread.first_ns : 0;
    threads.push_back({{"pid", thread.pid},
                       {"tid", thread.tid},
                       {"comm", thread.comm},
                       {"instructions", thread.instructions},
                       {"trace_ns", traced},
                       {"lost_ns", thread.lost_ns},
                       {"gaps", thread.gaps}});
  }
  Json json = {{"path", info.path},
               {"backend", info.backend},
               {"trace_ns", info.trace_ns},
               {"lost_ns", info.lost_ns},
               {"gaps", info.gaps},
               {"decode_errors", info.decode_errors},
               {"trace_bytes", info.trace_bytes},
               {"threads", threads.size()}};
  json["resolution_ns"] = info.uncertainty_ns ? Json(*info.uncertainty_ns) : Json(nullptr);
  json["lost_records"] = info.lost_records;
  json["slowdown"] = info.slowdown;
  if (measure::is_estimate(info)) {
    json["estimate"] = {{"bursts", info.bursts},
                        {"measured_ns", info.trace_ns - info.lost_ns},
                        {"factor", measure::estimate_factor(info)}};
  }
  json["off_cpu_known"] = info.off_cpu_known;
  json["notes"] = Json::array();
  for (const Note& note : info.notes) {
    json["notes"].push_back(note_json(note));
  }
  json["missing"] = std::move(missing);
  json["thread_list"] = std::move(threads);
  return json;
}

} // namespace ptlens::exporting
