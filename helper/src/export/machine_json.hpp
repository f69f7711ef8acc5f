// The JSON of what can be measured on this machine and what stands in the way; the field names are
// those of protocol.schema.json in the extension.
#pragma once

#include "export/json_text.hpp"
#include "record/machine/doctor.hpp"
#include "record/processes/process_list.hpp"

#include <span>

namespace ptlens::exporting {

[[nodiscard]] Json doctor_json(const record::Diagnosis& diagnosis);

[[nodiscard]] Json processes_json(std::span<const record::Process> processes);

[[nodiscard]] Json threads_json(std::span<const record::Thread> threads);

} // namespace ptlens::exporting
