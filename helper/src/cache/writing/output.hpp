// The output of a cache writer: a temporary file in the folder of the cache, locked (flock) while
// its writer lives, and renamed when it is complete; or memory, where no file can be created or the
// disk is full. A temporary file without a lock was left by a process that died.
#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ptlens::cache {

class Output {
public:
  Output() = default; // to memory
  // Creates a temporary file in the folder of `path`. Errors: those of the file system.
  [[nodiscard]] static Result<Output> create(const std::string& path);

  Output(Output&& other) noexcept;
  Output& operator=(Output&& other) noexcept;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output(); // removes a temporary file that was not published

  // Never fails: where the disk is full, all bytes go to memory.
  void append(std::span<const std::byte> bytes);
  // Returns bytes that were appended before; zeros where the file cannot be read.
  [[nodiscard]] std::vector<std::byte> read(std::uint64_t offset, std::size_t bytes);
  // Replaces bytes that were appended before.
  void overwrite(std::uint64_t offset, std::span<const std::byte> bytes);
  [[nodiscard]] std::uint64_t size() const { return written_ + memory_.size(); }

  // Calls `use` with the temporary file, or with "" and the bytes in memory.
  template <class Use>
  void look_at(const Use& use) {
    flush();
    use(file_ >= 0 ? temporary_ : std::string(), std::span<const std::byte>(memory_));
  }

  // Writes all bytes to the disk and returns the temporary file; empty where they are in memory.
  [[nodiscard]] std::string complete();
  // Renames the complete file.
  [[nodiscard]] Result<void> publish();
  // Returns the bytes, where there is no file.
  [[nodiscard]] std::vector<std::byte> take() { return std::move(memory_); }
  // Returns why the bytes are in memory although a file was wanted; empty where they are not.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

private:
  void flush();
  [[nodiscard]] bool write(std::span<const std::byte> bytes);
  void retreat(int code);
  void close();

  int file_ = -1;
  std::string path_;
  std::string temporary_;
  std::string trouble_;
  std::uint64_t written_ = 0;     // to the file
  std::vector<std::byte> memory_; // the bytes after it
};

// Removes temporary files for `path` whose writers died.
void remove_abandoned(const std::string& path);

} // namespace ptlens::cache
