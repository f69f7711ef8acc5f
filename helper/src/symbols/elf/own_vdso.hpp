// The vdso that the running kernel maps into every process: the code of clock_gettime and similar
// functions, which is in no file. perf also decodes local recordings with it
// (tools/perf/util/vdso.c).
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace ptlens::symbols {

// Returns its bytes, mapped for the life of this process; empty where the kernel has none.
[[nodiscard]] std::span<const std::byte> own_vdso();

// Returns a path at which this process can open a copy of it until the process ends; empty where
// there is none.
[[nodiscard]] const std::string& own_vdso_path();

} // namespace ptlens::symbols
