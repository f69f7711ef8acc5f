// The functions of the running kernel by address. All of /proc/kallsyms takes the kernel tens of
// milliseconds of CPU time to print, so that functions that were found once are kept until the next
// boot, or until a module is loaded or removed.
#pragma once

#include "record/machine/boot_files.hpp"

#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace ptlens::record {

class KernelFunctions {
public:
  struct Function {
    std::uint64_t first = 0; // address
    std::uint64_t end = 0;   // where the next one begins
    std::string name;
    bool stays =
        true; // code of the kernel or a module, as opposed to a BPF program or a trampoline
  };

  // Reads the text of a /proc/kallsyms. Hidden addresses are left out.
  static KernelFunctions read(std::istream& kallsyms);

  // Reads what text() returned. Returns nothing for the text of another boot, kernel or list of
  // modules, or of a broken file. `modules`: the text of /proc/modules.
  static std::optional<KernelFunctions> parse(std::string_view text, const BootedKernel& kernel,
                                              std::string_view modules);
  [[nodiscard]] std::string text(const BootedKernel& kernel, std::string_view modules) const;

  // Returns the function that contains the address, or null.
  [[nodiscard]] const Function* at(std::uint64_t address) const;
  void add(const Function& function) { functions_.insert_or_assign(function.first, function); }

private:
  std::map<std::uint64_t, Function> functions_; // by first address
};

} // namespace ptlens::record
