// The functions of the running kernel by address. /proc/kallsyms takes the kernel tens of
// milliseconds of CPU time to print, so that all functions are kept until the next boot, or until a
// module is loaded or removed.
#pragma once

#include "record/machine/boot_files.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::record {

class KernelFunctions {
public:
  struct Function {
    std::uint64_t first = 0; // address
    std::string_view name;   // valid as long as the object
  };

  KernelFunctions() = default; // none
  // Reads the text of a /proc/kallsyms. Hidden addresses are left out.
  static KernelFunctions read(std::string_view kallsyms);

  // Reads what text() returned, which must outlive the object: nothing is copied. Returns nothing
  // for the text of another boot, kernel or list of modules, or of a broken file. `modules`: the
  // text of /proc/modules.
  static std::optional<KernelFunctions> parse(std::string_view text, const BootedKernel& kernel,
                                              std::string_view modules);
  // Returns a line of JSON, and then the number of ranges, their bytes and the names. BPF programs
  // and trampolines are left out: others can take their place at any time.
  [[nodiscard]] std::string text(const BootedKernel& kernel, std::string_view modules) const;

  KernelFunctions(const KernelFunctions&) = delete;
  KernelFunctions& operator=(const KernelFunctions&) = delete;
  KernelFunctions(KernelFunctions&&) noexcept = default;
  KernelFunctions& operator=(KernelFunctions&&) noexcept = default;
  ~KernelFunctions() = default;

  // Returns the function that contains the address; nothing where none is known.
  [[nodiscard]] std::optional<Function> at(std::uint64_t address) const;

private:
  struct Range {
    std::uint64_t first = 0;      // address
    std::uint64_t end = 0;        // where the next function begins
    std::uint32_t name_begin = 0; // in names_
    std::uint16_t name_size = 0;
    std::uint16_t stays = 1; // code of the kernel or a module
  };
  static_assert(sizeof(Range) == 24);

  [[nodiscard]] std::size_t range_count() const { return ranges_.size() / sizeof(Range); }
  [[nodiscard]] Range range(std::size_t index) const;

  std::vector<char> owned_; // what the members below refer to; empty after parse()
  std::string_view ranges_; // the bytes of the ranges, by first address
  std::string_view names_;
};

} // namespace ptlens::record
