// The member of a bundle that lists all other members.
#pragma once

namespace ptlens::engine {

inline constexpr const char* bundle_list = "bundle.json";
// The version of the list's format.
inline constexpr int bundle_version = 2;

} // namespace ptlens::engine
