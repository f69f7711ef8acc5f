#include "record/machine/boot_files.hpp"

#include "record/processes/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/utsname.h>
#include <system_error>
#include <unistd.h>

namespace ptlens::record {

namespace fs = std::filesystem;

BootedKernel booted_kernel() {
  utsname system{};
  BootedKernel kernel;
  kernel.boot_id = read_text("/proc/sys/kernel/random/boot_id").value_or("");
  kernel.boot_id.resize(std::min(kernel.boot_id.find('\n'), kernel.boot_id.size()));
  kernel.release = ::uname(&system) == 0 ? system.release : "";
  return kernel;
}

std::string file_of_boot(const std::string& name) {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  if (cache != nullptr && *cache == '/') {
    return (fs::path(cache) / "ptlens" / name).string();
  }
  return home != nullptr && *home == '/' ? (fs::path(home) / ".cache" / "ptlens" / name).string()
                                         : "";
}

void keep_for_boot(const std::string& file, const std::string& text) {
  std::error_code failed;
  fs::create_directories(fs::path(file).parent_path(), failed);
  const std::string temporary = fmt::format("{}.{}", file, ::getpid());
  {
    std::ofstream out(temporary, std::ios::trunc);
    fs::permissions(temporary, fs::perms::owner_read | fs::perms::owner_write, failed);
    out << text;
    out.flush();
    if (!out) {
      failed = std::make_error_code(std::errc::io_error);
    }
  }
  if (!failed) {
    fs::rename(temporary, file, failed);
  }
  if (failed) {
    fs::remove(temporary, failed);
  }
}

} // namespace ptlens::record
