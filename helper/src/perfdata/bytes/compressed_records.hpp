// Records inside PERF_RECORD_COMPRESSED (`perf record -z`): the payloads are one zstd stream of
// whole records, and a record may begin in one payload and end in the next. libzstd unpacks them
// piece by piece; only the unfinished record and one piece are held.
#pragma once

#include "base/error.hpp"
#include "perfdata/bytes/raw_record.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

struct ZSTD_DCtx_s;

namespace ptlens::perfdata {

class CompressedRecords {
public:
  using Sink = std::function<Result<void>(const Record& record)>;

  // Unpacks one COMPRESSED record and hands each record that is now whole to `sink`, whose error
  // ends the work. Errors: bad_input where the stream is no zstd, holds something that is no
  // record, or grows beyond any ratio that records compress at.
  [[nodiscard]] Result<void> add(const Record& record, const Sink& sink);

  // True when the stream ended within a record.
  [[nodiscard]] bool unfinished() const { return !pending_.empty(); }

private:
  struct Free {
    void operator()(ZSTD_DCtx_s* stream) const;
  };
  [[nodiscard]] Result<void> hand_out(const Record& outer, const Sink& sink);

  std::unique_ptr<ZSTD_DCtx_s, Free> stream_;
  std::vector<std::byte> piece_;
  std::vector<std::byte> pending_; // unpacked and not yet handed out
  std::uint64_t packed_ = 0;       // bytes so far
  std::uint64_t unpacked_ = 0;
};

} // namespace ptlens::perfdata
