// Decides where return probes are safe. A return probe replaces the return address on the stack. An
// unwinder that reads it there (exceptions, panics, thread cancellation) terminates the program,
// and a runtime that moves or switches stacks crashes.
#pragma once

#include "record/request.hpp"
#include "record/targets/place.hpp"
#include "record/targets/target_files.hpp"

#include <string>

namespace ptlens::record {

// Returns why return addresses of the target must not be replaced, as a clause; empty where nothing
// that it has mapped unwinds or switches stacks. What it loads later is unknown.
[[nodiscard]] std::string why_unwound(TargetFiles& files, const Request& request);

// Returns true for a function during which nothing is unwound, whatever the program contains: it
// calls nothing, does not enter the kernel, and leaves only by returns from the stack that it was
// called on.
[[nodiscard]] bool is_leaf(const Place& place);

// Returns true where the target contains Go code, which moves stacks at any time.
[[nodiscard]] bool contains_go(TargetFiles& files);

} // namespace ptlens::record
