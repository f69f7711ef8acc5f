// See ioctl_ficlone(2).
#include "base/copy_file.hpp"

#include "base/file_descriptor.hpp"

#include <fcntl.h>
#include <filesystem>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <system_error>

namespace ptlens {
namespace {

namespace fs = std::filesystem;

bool share(const fs::path& from, const fs::path& to) {
  const FileDescriptor source(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  const FileDescriptor target(
      ::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  return source.valid() && target.valid() && ::ioctl(target.get(), FICLONE, source.get()) == 0;
}

} // namespace

bool copy_file(const std::string& from, const std::string& to) {
  std::error_code failed;
  fs::create_directories(fs::path(to).parent_path(), failed);
  if (failed) {
    return false;
  }
  if (share(from, to)) {
    return true;
  }
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, failed);
  if (!failed) {
    return true;
  }
  std::error_code ignored;
  fs::remove(to, ignored); // an incomplete copy would look like a damaged binary
  return false;
}

} // namespace ptlens
