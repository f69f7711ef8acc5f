// Measures by Intel Processor Trace: perf writes the trace, later stages decode it.
#pragma once

#include "record/machine/machine.hpp"
#include "record/manifest.hpp"
#include "record/recorder.hpp"

#include <string>

namespace ptlens::record {

// Runs perf; fills in the manifest's notes and perf command. Errors: unsupported when the machine
// has no Intel PT and `perf` is not a stand-in that the request names; no_rights; those of
// find_target (with --filter) and run_session; failed with what perf said when it recorded nothing.
[[nodiscard]] Result<Summary> record_intel_pt(const Request& request, const Machine& machine,
                                              const std::string& perf, const std::string& data_file,
                                              const Progress& progress, Manifest& manifest);

// Writes the code of our own vdso, which is the same in every process of this kernel, as
// `directory`/vdso.so: it exists in no file, and the decoder needs it. Errors: failed.
Result<void> write_vdso(const std::string& directory);

inline constexpr const char* vdso_name = "vdso.so";

} // namespace ptlens::record
