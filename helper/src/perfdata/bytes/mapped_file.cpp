// Files are mapped with mmap(2).
#include "perfdata/bytes/mapped_file.hpp"

#include "base/file_descriptor.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace ptlens::perfdata {

namespace {

constexpr const char* need_recording = "pass a perf.data file that perf record wrote";

Error system_error(const std::string& path, int code) {
  Error error;
  error.message = std::strerror(code);
  error.file = path;
  switch (code) {
  case ENOENT:
  case ENOTDIR:
    error.kind = Error::Kind::not_found;
    error.remedy = "check the path";
    break;
  case EACCES:
  case EPERM:
    error.kind = Error::Kind::no_rights;
    error.remedy = "make the file readable for this user";
    break;
  default:
    break;
  }
  return error;
}

Error wrong_file(const std::string& path, const char* message, const char* remedy) {
  return {.kind = Error::Kind::bad_input,
          .message = message,
          .file = path,
          .offset = std::nullopt,
          .remedy = remedy};
}

} // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  // O_NONBLOCK: opening a named pipe without a writer must not wait.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) {
    return std::unexpected(system_error(path, errno));
  }
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) {
    return std::unexpected(system_error(path, errno));
  }
  if (S_ISDIR(status.st_mode)) {
    return std::unexpected(
        wrong_file(path, "this is a directory, not a file", "pass the perf.data file in it"));
  }
  if (!S_ISREG(status.st_mode)) {
    return std::unexpected(wrong_file(path, "this is not a regular file", need_recording));
  }
  if (status.st_size == 0) {
    return std::unexpected(wrong_file(path, "the file is empty", "record again"));
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) {
    return std::unexpected(system_error(path, errno));
  }
  return MappedFile({static_cast<const std::byte*>(address), size});
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    unmap();
    bytes_ = std::exchange(other.bytes_, {});
  }
  return *this;
}

MappedFile::~MappedFile() {
  unmap();
}

void MappedFile::forget(std::span<const std::byte> bytes) const {
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  if (bytes.data() < bytes_.data() || bytes.data() - bytes_.data() > std::ssize(bytes_) ||
      bytes.size() > bytes_.size() - static_cast<std::size_t>(bytes.data() - bytes_.data())) {
    return;
  }
  const auto begin = static_cast<std::size_t>(bytes.data() - bytes_.data());
  const std::size_t first = (begin + page - 1) / page * page; // start of the first whole page
  const std::size_t end = (begin + bytes.size()) / page * page;
  if (first < end) {
    ::madvise(const_cast<std::byte*>(bytes_.data()) + first, end - first, MADV_DONTNEED);
  }
}

void MappedFile::unmap() {
  if (!bytes_.empty()) {
    ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
}

} // namespace ptlens::perfdata
