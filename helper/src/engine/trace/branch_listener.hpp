// The receiver of decoded branches.
#pragma once

#include "flow/runs/run.hpp"

#include <functional>
#include <string_view>

namespace ptlens::engine {

// Takes a decoded branch, the name of its kind ("tail" for a jump that is a tail call), and the
// symbol of its target ("function+0x12"; of its origin when `to` is 0).
using BranchListener = std::function<void(const flow::Run& run, const flow::Branch& branch,
                                          std::string_view kind, std::string_view symbol)>;

} // namespace ptlens::engine
