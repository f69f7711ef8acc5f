// The base protocol of LSP, as a state machine over bytes.
#include "server/rpc/framing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace ptlens::server {

namespace {

constexpr std::string_view blanks = " \t";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char character) {
    return character >= 'A' && character <= 'Z' ? static_cast<char>(character - 'A' + 'a')
                                                : character;
  });
  return result;
}

} // namespace

FrameReader::FrameReader(MessageListener on_message, FaultListener on_fault)
    : on_message_(std::move(on_message)), on_fault_(std::move(on_fault)) {}

bool FrameReader::inside_message() const {
  return state_ != State::header || header_bytes_ > 0;
}

void FrameReader::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (state_ != State::header) {
      const auto taken =
          static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, bytes.size()));
      if (state_ == State::body) {
        body_.append(bytes.substr(0, taken));
      }
      bytes.remove_prefix(taken);
      remaining_ -= taken;
      if (remaining_ == 0) {
        const bool whole = state_ == State::body;
        state_ = State::header;
        if (whole) {
          on_message_(std::exchange(body_, {}));
        }
      }
      continue;
    }
    const char byte = bytes.front();
    bytes.remove_prefix(1);
    ++header_bytes_;
    if (byte == '\n') {
      end_of_line();
    } else {
      line_ += byte;
    }
    if (header_bytes_ > longest_header) {
      line_.clear();
      header_bytes_ = 0;
      length_.reset();
      fault_.clear();
      on_fault_(fmt::format("the header is longer than {} bytes", longest_header));
    }
  }
}

void FrameReader::end_of_line() {
  std::string_view line = line_;
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  if (!line.empty()) {
    read_field(line);
  } else if (header_bytes_ > 2 || length_ || !fault_.empty()) {
    end_of_header();
  } else {
    header_bytes_ = 0; // an empty line between messages
  }
  line_.clear();
}

void FrameReader::read_field(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) {
    fault_ = "a header line has no colon";
    return;
  }
  const std::string name = lower(trimmed(line.substr(0, colon)));
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (name == "content-length") {
    read_length(value);
  } else if (name == "content-type") {
    const std::string type = lower(value);
    const auto charset = type.find("charset=");
    if (charset != std::string::npos && type.find("utf-8", charset) == std::string::npos &&
        type.find("utf8", charset) == std::string::npos) {
      fault_ = "Content-Type names a charset that is not utf-8";
    }
  }
}

void FrameReader::read_length(std::string_view value) {
  std::uint64_t length = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), length);
  if (error != std::errc{} || end != value.data() + value.size()) {
    fault_ = "Content-Length is not a number of bytes";
  } else if (length_ && *length_ != length) {
    fault_ = "Content-Length is given twice, differently";
  } else {
    length_ = length;
  }
}

void FrameReader::end_of_header() {
  header_bytes_ = 0;
  const auto length = std::exchange(length_, std::nullopt);
  std::string fault = std::exchange(fault_, {});
  if (!length && fault.empty()) {
    fault = "Content-Length is missing";
  } else if (length && *length > longest_message) {
    fault = fmt::format("the message is longer than {} bytes", longest_message);
  }
  remaining_ = length.value_or(0);
  if (remaining_ > 0) {
    state_ = fault.empty() ? State::body : State::skip;
  }
  if (!fault.empty()) {
    on_fault_(std::move(fault));
  } else if (remaining_ == 0) {
    on_message_({});
  }
}

} // namespace ptlens::server
