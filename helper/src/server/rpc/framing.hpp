// The base protocol of LSP: a header block with Content-Length, an empty line, and that many bytes
// of JSON. The reader accepts bytes in chunks of any size and produces whole messages.
//
// It reports an invalid header and continues after the announced body where the length is known,
// else after the empty line.
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

  // Returns whether the bytes so far end inside a message.
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
  std::string fault_;           // in this header block
  std::uint64_t remaining_ = 0; // bytes of body or skip still to come
  std::string body_;
};

} // namespace ptlens::server
