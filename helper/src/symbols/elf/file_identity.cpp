// See stat(2).
#include "symbols/elf/file_identity.hpp"

namespace ptlens::symbols {

FileIdentity identity_in(const struct stat& status) {
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = static_cast<std::uint64_t>(status.st_size),
          .changed_s = status.st_mtim.tv_sec,
          .changed_ns = status.st_mtim.tv_nsec};
}

std::optional<FileIdentity> identity_of(const std::string& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 ? std::optional(identity_in(status)) : std::nullopt;
}

} // namespace ptlens::symbols
