// What the server asks of the rest of the helper. Tests put their own in its place.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "measure/inlined.hpp"
#include "measure/measurement.hpp"
#include "record/doctor.hpp"
#include "record/processes.hpp"
#include "record/recorder.hpp"
#include "server/requests.hpp"
#include "stacks/call.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ptlens::server {

struct FunctionsAt {
  std::vector<stacks::FunctionInfo> candidates; // best match first
  std::string message;                          // why there is none
};

// Each may be called from several threads at once.
struct Host {
  std::function<Result<std::shared_ptr<const measure::Measurement>>(const OpenRequest&,
                                                                    const Progress&)>
      open;
  // The executions of the inlined functions of that name in a recording, in that binary where it is
  // not empty. May be empty: inlined code is not looked for then.
  std::function<Result<std::shared_ptr<const measure::InlinedMeasurement>>(
      const OpenRequest&, const std::string& name, const std::string& binary, const Progress&)>
      inlined = {};
  // Removes what is kept of a recording: it was damaged. May be empty.
  std::function<void(const OpenRequest&)> forget = {};
  std::function<Result<record::Outcome>(const record::Request&, const Progress&)> record;
  std::function<record::Diagnosis(const DoctorRequest&)> diagnose;
  std::function<std::vector<record::Process>(const std::string& source)> processes;
  std::function<Result<FunctionsAt>(const FunctionAtRequest&)> functions_at;
};

// The real one.
[[nodiscard]] Host real_host();

} // namespace ptlens::server
