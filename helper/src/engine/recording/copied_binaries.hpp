// Copies of the measured binaries in the recording's folder, where symbols::BinaryFinder looks
// first, so that the recording can be decoded after the program was rebuilt.
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace ptlens::engine {

// Copies binaries to the folder of a recording. Leaves out system libraries, binaries with separate
// debug information, and binaries beyond a total of 512 MiB. The copies share their bytes with the
// originals where the file system supports it. Never fails: a binary that cannot be copied is left
// out.
class BinaryCopies {
public:
  explicit BinaryCopies(std::string recording) : recording_(std::move(recording)) {}
  void add(const std::string& path);

private:
  std::string recording_;
  std::uint64_t bytes_ = 0;
};

// Copies the binaries to a folder that `ptlens record` has just written.
void keep_binaries(const std::string& recording);

} // namespace ptlens::engine
