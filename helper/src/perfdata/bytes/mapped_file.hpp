// A regular file, mapped read-only for the life of the object. The file may be larger than memory:
// its pages are loaded and dropped as needed.
#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace ptlens::perfdata {

class MappedFile {
public:
  // Errors: not_found, no_rights, bad_input (a directory, a pipe, a device, an empty file), failed.
  static Result<MappedFile> open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  // Lets the pages of `bytes` leave this process's memory, because they are not needed soon. A
  // later access reads the file again.
  void forget(std::span<const std::byte> bytes) const;

private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  void unmap();

  std::span<const std::byte> bytes_;
};

} // namespace ptlens::perfdata
