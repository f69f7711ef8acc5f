// Which kernel a copy of its code and names is of: the build-id of its notes, and where it was
// loaded. Notes: kernel include/linux/elfnote.h, and vmcoreinfo in kernel/vmcore_info.c.
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::symbols {

struct KernelIdentity {
  std::vector<std::uint8_t> build_id;     // empty: the copy does not say
  std::optional<std::uint64_t> reference; // address of the symbol asked for, 0 where hidden
};

// The build-id is looked for in the notes of the core file, and where kallsyms says that the kernel
// keeps its own. The first `reference` in kallsyms counts. Errors: those of open_file, bad_input
// (not ELF).
[[nodiscard]] Result<KernelIdentity>
identify_kernel(const std::string& kcore, const std::string& kallsyms, std::string_view reference);

} // namespace ptlens::symbols
