// The member of a bundle that lists the others.
#pragma once

namespace ptlens::engine {

inline constexpr const char* bundle_list = "bundle.json";
// 2 has checksums.
inline constexpr int bundle_version = 2;

} // namespace ptlens::engine
