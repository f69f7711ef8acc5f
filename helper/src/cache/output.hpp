// Where a store is written to: a temporary file beside its place, locked (flock) for as long as its
// writer lives, and renamed when it is whole; or memory, where no file can be made or the disk is
// full. A temporary that nobody holds locked was left by a process that died.
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
  // To a temporary file in the folder of `path`. Errors: those of the file system.
  [[nodiscard]] static Result<Output> create(const std::string& path);

  Output(Output&& other) noexcept;
  Output& operator=(Output&& other) noexcept;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output(); // removes a temporary file that was not published

  // Never fails: what the disk does not take goes to memory, with all before it.
  void append(std::span<const std::byte> bytes);
  // Bytes that were appended before; fewer where the file cannot be read back.
  [[nodiscard]] std::vector<std::byte> read(std::uint64_t offset, std::size_t bytes);
  // In place of bytes that were appended before.
  void overwrite(std::uint64_t offset, std::span<const std::byte> bytes);
  [[nodiscard]] std::uint64_t size() const { return written_ + memory_.size(); }

  // Calls `use` with where all of it is: the temporary file, or "" and the bytes in memory.
  template <class Use>
  void look_at(const Use& use) {
    flush();
    use(file_ >= 0 ? temporary_ : std::string(), std::span<const std::byte>(memory_));
  }

  // The temporary file with all in it, on the disk; empty where the bytes are in memory.
  [[nodiscard]] std::string complete();
  // Gives the complete file its name.
  [[nodiscard]] Result<void> publish();
  // Where there is no file: the bytes.
  [[nodiscard]] std::vector<std::byte> take() { return std::move(memory_); }
  // Why the bytes went to memory although a file was wanted; empty where they did not.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

private:
  void flush();
  void retreat(int code);
  void close();

  int file_ = -1;
  std::string path_;
  std::string temporary_;
  std::string trouble_;
  std::uint64_t written_ = 0;     // to the file
  std::vector<std::byte> memory_; // what follows it
};

// Removes temporary files of dead writers of `path`.
void remove_abandoned(const std::string& path);

} // namespace ptlens::cache
