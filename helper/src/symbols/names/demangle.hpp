// Readable names from linkage names.
#pragma once

#include <string>
#include <string_view>

namespace ptlens::symbols {

// Returns "ns::f(int)" for "_ZN2ns1fEi", and "f [clone .part.0]" for "f.part.0". Leaves out symbol
// versions ("@GLIBC_2.14"), ThinLTO's suffixes (".llvm.123") and return types. Knows C++, Rust
// legacy and Rust v0.
[[nodiscard]] std::string demangle(std::string_view linkage_name);

// Returns "free" for "free@@GLIBC_2.2.5" and "free@GLIBC_2.0".
[[nodiscard]] std::string_view without_version(std::string_view linkage_name);
// Returns "GLIBC_2.2.5" for both; empty for a name without a version.
[[nodiscard]] std::string_view version_of(std::string_view linkage_name);
// Checks for a version to which no new program is bound: one "@" instead of two.
[[nodiscard]] bool is_old_version(std::string_view linkage_name);

// Returns the hash in which the legacy names of Rust's instances of one generic function differ:
// "h08e6b6b8d9ee3681" for "_ZN6legacy5least17h08e6b6b8d9ee3681E". Empty for other names.
[[nodiscard]] std::string_view rust_hash(std::string_view linkage_name);
[[nodiscard]] bool is_rust_hash(std::string_view text); // "h" and 16 hexadecimal digits

[[nodiscard]] bool is_clone(std::string_view demangled_name);

// Returns the name of the function that a cold part belongs to: "f" for "f.cold" and "f.cold.3",
// "f.isra.0" for "f.isra.0.cold". Empty for other names.
[[nodiscard]] std::string_view owner_of_cold_part(std::string_view linkage_name);

// The function that a compiler made a copy of: "f" for "f.isra.0", "f.constprop.0.part.1" and
// "f.cold.1". `original` is empty for other names.
struct CopyName {
  std::string_view original = {};
  bool part = false; // only some of the original's code, which the original jumps to or calls
};
[[nodiscard]] CopyName copy_of(std::string_view linkage_name);

} // namespace ptlens::symbols
