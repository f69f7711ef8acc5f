// What distinguishes a file from the one that replaces it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/stat.h>

namespace ptlens::symbols {

struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0; // bytes
  std::int64_t changed_s = 0;
  std::int64_t changed_ns = 0;

  bool operator==(const FileIdentity&) const = default;
};

[[nodiscard]] FileIdentity identity_in(const struct stat& status);

// Returns the identity of the file that is at the path now; nothing where there is none.
[[nodiscard]] std::optional<FileIdentity> identity_of(const std::string& path);

} // namespace ptlens::symbols
