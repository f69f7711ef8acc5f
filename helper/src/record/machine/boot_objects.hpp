// What files of boot_files.hpp contain: a JSON object that names its format and its kernel.
#pragma once

#include "record/machine/boot_files.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string_view>

namespace ptlens::record {

[[nodiscard]] nlohmann::json new_object_of_boot(const BootedKernel& kernel, std::uint64_t version);

// Returns the object that the text contains; null where it is none, or of another version, kernel
// or boot.
[[nodiscard]] nlohmann::json object_of_boot(std::string_view text, const BootedKernel& kernel,
                                            std::uint64_t version);

} // namespace ptlens::record
