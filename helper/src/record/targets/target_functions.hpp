// The search for the functions that a request names.
#pragma once

#include "base/error.hpp"
#include "record/request.hpp"
#include "record/targets/place.hpp"
#include "record/targets/target_files.hpp"

#include <vector>

namespace ptlens::record {

// Returns the requested function. Errors: bad_input when the request names none, when several
// functions have the name in one file or in several of the program's own files, or when the file
// was replaced; not_found with the nearest names, or with the functions that it was inlined into.
[[nodiscard]] Result<Place> find_target(const Request& request, TargetFiles& files);

// Returns, with request.all, every function of the name: in the first file that has one, and in all
// files that do not belong to the system. Otherwise it returns the function of find_target. Errors:
// the same.
[[nodiscard]] Result<std::vector<Place>> find_targets(const Request& request, TargetFiles& files);

} // namespace ptlens::record
