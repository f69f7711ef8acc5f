// URIs of files.
#include "server/requests/uri.hpp"

#include <charconv>
#include <string_view>
#include <system_error>

namespace ptlens::server {

std::string uri_of(const std::string& path) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string uri = "file://";
  for (const char byte : path) {
    const auto value = static_cast<unsigned char>(byte);
    const bool plain = (value >= 'a' && value <= 'z') || (value >= 'A' && value <= 'Z') ||
                       (value >= '0' && value <= '9') ||
                       std::string_view("/-_.~").find(byte) != std::string_view::npos;
    if (plain) {
      uri += byte;
    } else {
      uri += {'%', digits[value >> 4U], digits[value & 15U]};
    }
  }
  return uri;
}

std::string path_of_uri(const std::string& uri) {
  std::size_t begin = 0;
  if (const auto scheme = uri.find("://"); scheme != std::string::npos) {
    begin = uri.find('/', scheme + 3);
    if (begin == std::string::npos) {
      return {};
    }
  }
  std::string path;
  for (std::size_t at = begin; at < uri.size(); ++at) {
    if (uri[at] == '%' && at + 2 < uri.size()) {
      unsigned byte = 0;
      const char* const end = uri.data() + at + 3;
      const auto [last, error] = std::from_chars(uri.data() + at + 1, end, byte, 16);
      if (error == std::errc{} && last == end && byte != 0) {
        path += static_cast<char>(byte);
        at += 2;
        continue;
      }
    }
    path += uri[at];
  }
  return path;
}

} // namespace ptlens::server
