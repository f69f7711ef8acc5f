// The build-ids of the files of a target.
#pragma once

#include "record/targets/target_files.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ptlens::record {

// Returns them by path in the target's file system, without files that have none.
[[nodiscard]] std::map<std::string, std::vector<std::uint8_t>>
build_ids_of(const TargetFiles& files);

} // namespace ptlens::record
