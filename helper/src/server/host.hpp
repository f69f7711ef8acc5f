// What the server asks of the rest of the helper. Tests put their own in its place.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "engine/bundle/bundle.hpp"
#include "engine/cache/cache_status.hpp"
#include "line_time/line_times.hpp"
#include "measure/measurement.hpp"
#include "measure/report/inlined.hpp"
#include "measure/report/watched_function.hpp"
#include "record/machine/doctor.hpp"
#include "record/processes/processes.hpp"
#include "record/recorder.hpp"
#include "server/methods/requests.hpp"
#include "source/measured_sources.hpp"
#include "stacks/calls/call.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ptlens::server {

struct InlinedAt {
  std::string name;
  std::size_t places = 0;
  std::vector<stacks::FunctionInfo> holders; // functions that hold them, each once
};

struct FunctionsAt {
  std::vector<stacks::FunctionInfo> candidates; // best match first
  std::string message;                          // why there is none
  // The function that was asked about by name, where none of it is left but in others.
  std::optional<InlinedAt> inlined = {};
};

// Each may be called from several threads at once.
struct Host {
  // The watch is told about its function meanwhile.
  std::function<Result<std::shared_ptr<const measure::Measurement>>(
      const OpenRequest&, const measure::Watch&, const Progress&)>
      open;
  // The executions of the inlined functions of that name in a recording, in that binary where it is
  // not empty. May be empty: inlined code is not looked for then.
  std::function<Result<std::shared_ptr<const measure::InlinedMeasurement>>(
      const OpenRequest&, const std::string& name, const std::string& binary, const Progress&)>
      inlined = {};
  // Line time of functions of a recording; as engine::line_times.
  std::function<Result<std::shared_ptr<const line_time::LineTimes>>(
      const OpenRequest&, const std::vector<stacks::FunctionInfo>&, const Progress&)>
      line_times = {};
  // What is kept of a recording; as engine::cache_status. May be empty: nothing is kept.
  std::function<Result<engine::CacheStatus>(const OpenRequest&)> store = {};
  // Removes what is kept of a recording. May be empty.
  std::function<Result<std::vector<std::string>>(const OpenRequest&)> forget = {};
  // What the sources of a recording were when it was made. May be empty: nothing is known of them.
  std::function<source::MeasuredSources(const OpenRequest&, const measure::Measurement&)> sources =
      {};
  std::function<Result<record::Outcome>(const record::Request&, const Progress&)> record;
  std::function<record::Diagnosis(const DoctorRequest&)> diagnose;
  std::function<std::vector<record::Process>(const std::string& source)> processes;
  std::function<Result<std::vector<record::Thread>>(std::int32_t pid)> threads = {};
  std::function<Result<engine::Bundle>(const OpenRequest&, const std::string& output,
                                       const Progress&)>
      bundle = {};
  std::function<Result<FunctionsAt>(const FunctionAtRequest&)> functions_at;
};

// The real one.
[[nodiscard]] Host real_host();

} // namespace ptlens::server
