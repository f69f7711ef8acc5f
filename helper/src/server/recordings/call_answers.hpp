// Answers about the calls of an open recording: each reads them from the call cache.
#pragma once

#include "measure/timeline/timeline.hpp"
#include "server/recordings/open_recording.hpp"
#include "server/requests/requests.hpp"
#include "waits/waits.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace ptlens::server {

// Returns the waits of the recording; called where a question needs them.
using WaitsSource = std::function<Result<std::shared_ptr<const waits::Waits>>()>;

[[nodiscard]] Result<Json> answer_flame(OpenRecording& recording, const FlameRequest& request,
                                        const WaitsSource& waits);
[[nodiscard]] Result<Json> answer_calls(const OpenRecording& recording, const CallsRequest& request,
                                        const WaitsSource& waits);
[[nodiscard]] Result<Json> answer_explain(const OpenRecording& recording,
                                          const ExplainRequest& request, const WaitsSource& waits);
[[nodiscard]] Result<Json> answer_waits(const OpenRecording& recording, const WaitsRequest& request,
                                        const WaitsSource& waits);
// Returns where a call and its twin part.
using PartingSource =
    std::function<Result<std::optional<measure::Parting>>(const measure::Timeline&)>;
[[nodiscard]] Result<Json> answer_timeline(const OpenRecording& recording,
                                           const protocol::TimelineParams& request,
                                           const WaitsSource& waits, const PartingSource& parting);
[[nodiscard]] Result<Json> answer_distribution(const OpenRecording& recording,
                                               const DistributionRequest& request);

// Compares the recording with another one.
[[nodiscard]] Json answer_diff(const OpenRecording& recording, const OpenRecording& baseline);

// Returns the command line of a report; `function`: that the request names, nothing for several or
// an inlined one.
[[nodiscard]] Json report_command(const OpenRecording& recording, const ReportRequest& request,
                                  std::optional<stacks::FunctionId> function);

} // namespace ptlens::server
