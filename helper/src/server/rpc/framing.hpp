// The base protocol of LSP: a header block with Content-Length, an empty line, that many bytes of
// JSON. Takes bytes in pieces of any size and gives back whole messages.
//
// What is wrong in a header is reported and reading goes on behind it: behind the announced body
// where the length is known, else behind the empty line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace ptlens::server {

inline constexpr std::uint64_t longest_message = 64ULL << 20;
inline constexpr std::size_t longest_header = 8192;

class FrameReader {
public:
  using MessageListener = std::function<void(std::string body)>;
  using FaultListener = std::function<void(std::string what)>;

  FrameReader(MessageListener on_message, FaultListener on_fault);

  void feed(std::string_view bytes);

  // True when the input may not end here: bytes of a message have come, but not all.
  [[nodiscard]] bool inside_message() const;

private:
  enum class State { header, body, skip };

  void end_of_line();
  void end_of_header();
  void read_field(std::string_view line);
  void read_length(std::string_view value);

  MessageListener on_message_;
  FaultListener on_fault_;
  State state_ = State::header;
  std::string line_;
  std::size_t header_bytes_ = 0;
  std::optional<std::uint64_t> length_;
  std::string fault_;           // of this header block
  std::uint64_t remaining_ = 0; // bytes of body or skip still to come
  std::string body_;
};

} // namespace ptlens::server
