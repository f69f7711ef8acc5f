// The search for the functions that a request names.
#pragma once

#include "base/error.hpp"
#include "record/request.hpp"
#include "record/targets/place.hpp"
#include "record/targets/target_files.hpp"

#include <vector>

namespace ptlens::record {

// Returns the first requested function. Errors: bad_input when the request names none, when several
// functions have the name in one file or in several of the program's own files, or when the file
// was replaced; not_found with the nearest names, or with the functions that it was inlined into.
[[nodiscard]] Result<Place> find_target(const Request& request, TargetFiles& files);

// Returns the requested functions in the order of the request, each once. Where all functions of a
// name are requested, these are the ones in the first file that has one, and in all files that do
// not belong to the system. Errors: the same.
[[nodiscard]] Result<std::vector<Place>> find_targets(const Request& request, TargetFiles& files);

struct FoundTargets {
  TargetFiles files;
  std::vector<Place> functions; // in the files; at least one
};

// Returns the files of the target and the requested functions. Errors: those of TargetFiles::of()
// and the same.
[[nodiscard]] Result<FoundTargets> find_targets(const Request& request);

} // namespace ptlens::record
