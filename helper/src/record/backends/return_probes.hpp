// Chooses the functions whose returns a return probe sees.
#pragma once

#include "base/note.hpp"
#include "record/request.hpp"
#include "record/targets/place.hpp"
#include "record/targets/target_files.hpp"

#include <functional>
#include <vector>

namespace ptlens::record {

// Returns which functions get return probes, as PlanLimits::return_probe, and notes why.
[[nodiscard]] std::function<bool(const Place&)>
choose_return_probes(const Request& request, TargetFiles& files, std::vector<Note>& notes);

} // namespace ptlens::record
