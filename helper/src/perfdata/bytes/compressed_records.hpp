// Records inside PERF_RECORD_COMPRESSED (`perf record -z`). The payloads form one zstd stream of
// whole records; a record may begin in one payload and end in the next. libzstd decompresses them
// block by block; only the unfinished record and one block are in memory.
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

  // Decompresses one COMPRESSED record and passes each record that is now complete to `sink`, whose
  // error ends the work. Errors: bad_input where the stream is not zstd, contains data that is not
  // a record, or grows beyond any ratio at which records compress.
  [[nodiscard]] Result<void> add(const Record& record, const Sink& sink);

  // Checks whether the stream ended within a record.
  [[nodiscard]] bool unfinished() const { return !pending_.empty(); }

private:
  struct Free {
    void operator()(ZSTD_DCtx_s* stream) const;
  };
  [[nodiscard]] Result<void> pass_on(const Record& outer, const Sink& sink);

  std::unique_ptr<ZSTD_DCtx_s, Free> stream_;
  std::vector<std::byte> block_;
  std::vector<std::byte> pending_; // decompressed and not yet passed on
  std::uint64_t compressed_ = 0;   // bytes so far
  std::uint64_t decompressed_ = 0;
};

} // namespace ptlens::perfdata
