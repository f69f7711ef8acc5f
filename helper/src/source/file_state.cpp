// Times and sizes from stat(2), build-ids from libelf.
#include "source/file_state.hpp"

#include "symbols/elf/build_id.hpp"
#include "symbols/elf/elf_file.hpp"

#include <filesystem>
#include <sys/stat.h>
#include <system_error>

namespace ptlens::source {

std::int64_t changed_ns(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return 0;
  }
  constexpr std::int64_t second_ns = 1'000'000'000;
  return std::int64_t{status.st_mtim.tv_sec} * second_ns + status.st_mtim.tv_nsec;
}

bool is_later(std::int64_t time_ns, std::int64_t than_ns) {
  constexpr std::int64_t tolerance_ns = 1'000'000'000;
  return time_ns > than_ns + tolerance_ns;
}

std::uint64_t size_of(const std::string& path) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(path, failed);
  return failed ? 0 : size;
}

std::string build_id_of(const std::string& path) {
  const auto file = symbols::ElfFile::open(path);
  return file ? symbols::build_id_text(symbols::read_build_id(file->elf())) : std::string();
}

} // namespace ptlens::source
