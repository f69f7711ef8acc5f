#include "uftrace/text_file.hpp"

#include "perfdata/bytes/mapped_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

namespace ptlens::uftrace {
namespace {

constexpr std::uintmax_t most_bytes = std::uintmax_t{64} << 20U;

} // namespace

Result<std::string> read_text(const std::string& path) {
  std::error_code failed;
  const std::filesystem::file_status status = std::filesystem::status(path, failed);
  if (!failed && std::filesystem::is_regular_file(status)) {
    const std::uintmax_t size = std::filesystem::file_size(path, failed);
    if (!failed && size == 0) {
      return std::string();
    }
    if (!failed && size > most_bytes) {
      return std::unexpected(
          damaged(path, most_bytes,
                  fmt::format("the file has {} bytes, and uftrace writes far less into it", size)));
    }
  }
  const auto file = perfdata::MappedFile::open(path);
  if (!file) {
    Error error = file.error();
    error.remedy = record_again;
    return std::unexpected(std::move(error));
  }
  const auto bytes = file->bytes();
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Error damaged(const std::string& path, std::uint64_t offset, std::string message) {
  return {.kind = Error::Kind::bad_input,
          .message = std::move(message),
          .file = path,
          .offset = offset,
          .remedy = record_again};
}

} // namespace ptlens::uftrace
