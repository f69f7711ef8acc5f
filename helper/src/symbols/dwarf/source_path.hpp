// Paths of source files in the form that compilers write.
#pragma once

#include <string>
#include <string_view>

namespace ptlens::symbols {

// Returns `path`, made absolute with `folder` and without ".", ".." and doubled slashes. Does not
// look at the disk.
[[nodiscard]] std::string normal_path(const std::string& path, const std::string& folder);

// Checks that both paths end in the same file name and in the same directories, as many as the
// shorter path has.
[[nodiscard]] bool same_source(std::string_view one, std::string_view other);

} // namespace ptlens::symbols
