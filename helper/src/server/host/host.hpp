// The functions that the server needs from the rest of the helper. Tests replace them.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "engine/bundle/bundle.hpp"
#include "engine/cache/cache_status.hpp"
#include "line_time/line_times.hpp"
#include "measure/measurement.hpp"
#include "measure/report/inlined.hpp"
#include "measure/report/watched_function.hpp"
#include "measure/timeline/timeline.hpp"
#include "record/machine/doctor.hpp"
#include "record/processes/process_list.hpp"
#include "record/recorder.hpp"
#include "server/requests/requests.hpp"
#include "source/measured_sources.hpp"
#include "stacks/calls/call.hpp"
#include "waits/waits.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ptlens::server {

// A function of a binary, and how it is found again after the binary was rebuilt.
struct FunctionOfBinary : stacks::FunctionInfo {
  std::string linkage_name = {}; // mangled
  std::string build_id = {};     // of the binary, hex; empty: none
};

struct InlinedAt {
  std::string name;
  std::size_t places = 0;
  std::vector<FunctionOfBinary> holders; // functions that contain them, each once
};

struct FunctionsAt {
  std::vector<FunctionOfBinary> candidates; // best match first
  std::string message;                      // why there is no candidate
  // The named function, when the compiler inlined all of it.
  std::optional<InlinedAt> inlined = {};
};

// Each may be called from several threads at once.
struct Host {
  // Opens a recording. The watch receives partial reports meanwhile.
  std::function<Result<std::shared_ptr<const measure::Measurement>>(
      const OpenRequest&, const measure::Watch&, const Progress&)>
      open;
  // Returns the executions of the inlined functions of that name, in that binary where it is not
  // empty. May be empty: inlined code is then ignored.
  std::function<Result<std::shared_ptr<const measure::InlinedMeasurement>>(
      const OpenRequest&, const std::string& name, const std::string& binary, const Progress&)>
      inlined = {};
  // Returns the line time of functions, as engine::line_times.
  std::function<Result<std::shared_ptr<const line_time::LineTimes>>(
      const OpenRequest&, const std::vector<stacks::FunctionInfo>&, const Progress&)>
      line_times = {};
  // Returns the waits of a recording, as engine::recorded_waits. May be empty: none are known.
  std::function<Result<std::shared_ptr<const waits::Waits>>(const OpenRequest&, const Progress&)>
      waits = {};
  // Returns where a call and its twin part, as engine::parting. May be empty: not known.
  std::function<Result<std::optional<measure::Parting>>(
      const OpenRequest&, const measure::Measurement&, const measure::Timeline&, const Progress&)>
      parting = {};
  // Returns the state of a recording's cache. May be empty: nothing is cached.
  std::function<Result<engine::CacheStatus>(const OpenRequest&)> cache_status = {};
  // Removes a recording's cache and returns the removed paths. May be empty.
  std::function<Result<std::vector<std::string>>(const OpenRequest&)> remove_cache = {};
  // Returns the sources of a recording as they were when it was made. May be empty: they are
  // unknown.
  std::function<source::MeasuredSources(const OpenRequest&, const measure::Measurement&)> sources =
      {};
  std::function<Result<record::Outcome>(const record::Request&, const Progress&)> record;
  std::function<record::Diagnosis(const protocol::DoctorParams&)> diagnose;
  std::function<std::vector<record::Process>(const std::string& source)> processes;
  std::function<Result<std::vector<record::Thread>>(std::int32_t pid)> threads = {};
  std::function<Result<engine::Bundle>(const OpenRequest&, const std::string& output,
                                       const Progress&)>
      bundle = {};
  std::function<Result<FunctionsAt>(const protocol::FunctionAtParams&)> functions_at;
};

// Returns the host of a real server.
[[nodiscard]] Host real_host();

} // namespace ptlens::server
