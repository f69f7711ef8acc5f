// Prepares the opening of a recording while it is made: reads the target's binaries, and decodes
// the trace that perf has written. Idle processors do the work (base/idle_thread.hpp).
#pragma once

#include "base/idle_thread.hpp"
#include "engine/recording/open_options.hpp"
#include "record/companion.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

namespace ptlens::engine {

// What OpenOptions need of it.
struct ReadSoFar {
  std::shared_ptr<const symbols::ReadBinaries> binaries = {};
  std::shared_ptr<flow::DecodedAhead> trace = {};
};

class ReadingAhead final : public record::Companion {
public:
  // `behind` gets the number of trace bytes that wait to be decoded, where they are many.
  explicit ReadingAhead(std::shared_ptr<std::atomic<std::uint64_t>> behind);
  ReadingAhead(const ReadingAhead&) = delete;
  ReadingAhead& operator=(const ReadingAhead&) = delete;
  ReadingAhead(ReadingAhead&&) = delete;
  ReadingAhead& operator=(ReadingAhead&&) = delete;
  ~ReadingAhead() override; // what was not read yet is left out

  // Copies the target's own binaries to the recording's folder, as keep_binaries does, reads the
  // binaries from where a symbols::BinaryFinder will open them, and follows the trace.
  void begin(const record::Request& running) override;
  // Ends with the binary that is being read, or the segment that is being decoded.
  std::optional<Note> end() override;

  // Returns what was read. To be called once, after end().
  [[nodiscard]] ReadSoFar take();

private:
  struct Work; // shared with the thread

  std::shared_ptr<Work> work_;
  std::optional<IdleThread> thread_;
  bool ended_ = false; // the thread does no more
};

} // namespace ptlens::engine
