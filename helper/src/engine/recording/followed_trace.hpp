// Decodes the trace of a recording while perf writes it, as far as it has been written.
#pragma once

#include "engine/recording/open_options.hpp"
#include "flow/segments/decoded_ahead.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

namespace ptlens::engine {

class FollowedTrace {
public:
  // `recording`: the folder that perf writes perf.data to. `options`: those with which it will be
  // opened.
  FollowedTrace(std::string recording, OpenOptions options);

  // Decodes what was added to the trace, if that is worth the while. Calls `read` with the path of
  // each mapped file before its code is needed. Stops early where `stopped` returns true.
  void go_on(const std::function<void(const std::string&)>& read,
             const std::function<bool()>& stopped);

  // Returns the number of bytes that perf has written and that are not decoded.
  [[nodiscard]] std::uint64_t bytes_behind() const;
  // Returns what was decoded. To be called once, at the end.
  [[nodiscard]] std::shared_ptr<flow::DecodedAhead> take() { return std::move(decoded_); }

private:
  [[nodiscard]] std::uint64_t most_memory() const; // bytes

  std::string recording_;
  OpenOptions options_;
  std::shared_ptr<flow::DecodedAhead> decoded_ = std::make_shared<flow::DecodedAhead>();
  std::uint64_t seen_ = 0;        // bytes of the file, when it was looked at
  std::uint64_t trace_bytes_ = 0; // in them
  std::uint32_t contexts_ = 0;
  std::set<std::string> mapped_;
};

} // namespace ptlens::engine
