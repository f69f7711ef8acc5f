// The JSON of what this machine can measure, and of its processes and threads. The protocol's
// schema defines the fields.
#pragma once

#include "protocol/types.hpp"
#include "record/machine/doctor.hpp"
#include "record/processes/process_list.hpp"

#include <span>

namespace ptlens::exporting {

using protocol::Json;

[[nodiscard]] Json doctor_json(const record::Diagnosis& diagnosis);

[[nodiscard]] Json processes_json(std::span<const record::Process> processes);

[[nodiscard]] Json threads_json(std::span<const record::Thread> threads);

} // namespace ptlens::exporting
