// Names as people write them, from names as linkers see them.
#pragma once

#include <string>
#include <string_view>

namespace ptlens::symbols {

// "_ZN2ns1fEi" is "ns::f(int)", "f.part.0" is "f [clone .part.0]"; symbol versions ("@GLIBC_2.14")
// and what ThinLTO appends (".llvm.123") are left out, as are return types. C++, Rust legacy and
// Rust v0.
[[nodiscard]] std::string demangle(std::string_view linkage_name);

[[nodiscard]] bool is_clone(std::string_view demangled_name);

// "f.cold", "f.cold.3" and "f.isra.0.cold" belong to "f", "f" and "f.isra.0"; empty for names
// without such an ending.
[[nodiscard]] std::string_view owner_of_cold_part(std::string_view linkage_name);

// What a compiler made a function of: "f.isra.0", "f.constprop.0.part.1" and "f.cold.1" come from
// "f". `original` is empty for other names.
struct CopyName {
  std::string_view original = {};
  bool part = false; // only some of the original's code, which that one goes to
};
[[nodiscard]] CopyName copy_of(std::string_view linkage_name);

} // namespace ptlens::symbols
