// The identity of a kernel whose code and symbols were copied: the build-id in its notes, and its
// load address. Notes: kernel include/linux/elfnote.h, and vmcoreinfo in kernel/vmcore_info.c.
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::symbols {

struct KernelIdentity {
  std::vector<std::uint8_t> build_id;     // empty: the copy has none
  std::optional<std::uint64_t> reference; // address of the reference symbol, 0 where hidden
};

// Looks for the build-id in the notes of the core file, and where kallsyms locates the kernel's own
// notes. The first symbol in kallsyms with the name `reference` counts. Errors: those of open_file,
// bad_input (not ELF).
[[nodiscard]] Result<KernelIdentity>
identify_kernel(const std::string& kcore, const std::string& kallsyms, std::string_view reference);

} // namespace ptlens::symbols
