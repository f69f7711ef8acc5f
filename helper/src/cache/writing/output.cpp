// Writes large chunks with write(2).
#include "cache/writing/output.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace ptlens::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t piece = 1U << 20U;
constexpr std::string_view temporary_end = ".tmp";

Error failure(const std::string& path, int code) {
  return {.kind = code == EACCES || code == EROFS || code == EPERM ? Error::Kind::no_rights
                                                                   : Error::Kind::failed,
          .message = std::strerror(code), // NOLINT(concurrency-mt-unsafe)
          .file = path};
}

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// Locks a new file. Another process that removes abandoned files may take it for one before it is
// locked. Returns 0 where the file is locked and still there, else an error number.
int lock(int file) {
  if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    return errno;
  }
  struct stat state{};
  if (::fstat(file, &state) != 0) {
    return errno;
  }
  return state.st_nlink == 0 ? ENOENT : 0;
}

} // namespace

Result<Output> Output::create(const std::string& path) {
  static std::atomic<unsigned> number = 0;
  constexpr int attempts = 100;
  constexpr mode_t rights = 0666; // minus the umask
  Output output;
  output.path_ = path;
  int code = 0;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    output.temporary_ = fmt::format("{}.{}-{}{}", path, ::getpid(), ++number, temporary_end);
    output.file_ = ::open(output.temporary_.c_str(),
                          O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, rights);
    if (output.file_ < 0) {
      return std::unexpected(failure(output.temporary_, errno));
    }
    code = lock(output.file_);
    if (code == 0) {
      return output;
    }
    output.close();
  }
  return std::unexpected(failure(output.temporary_, code));
}

Output::Output(Output&& other) noexcept
    : file_(std::exchange(other.file_, -1)), path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)), trouble_(std::move(other.trouble_)),
      written_(std::exchange(other.written_, 0)), memory_(std::move(other.memory_)) {}

Output& Output::operator=(Output&& other) noexcept {
  if (this != &other) {
    close();
    file_ = std::exchange(other.file_, -1);
    path_ = std::move(other.path_);
    temporary_ = std::move(other.temporary_);
    trouble_ = std::move(other.trouble_);
    written_ = std::exchange(other.written_, 0);
    memory_ = std::move(other.memory_);
  }
  return *this;
}

Output::~Output() {
  close();
}

void Output::close() {
  if (file_ >= 0) {
    if (!temporary_.empty()) {
      ::unlink(temporary_.c_str());
    }
    ::close(std::exchange(file_, -1));
  }
}

void Output::append(std::span<const std::byte> bytes) {
  if (bytes.size() >= piece) {
    flush();
    if (write(bytes)) {
      return;
    }
  }
  memory_.insert(memory_.end(), bytes.begin(), bytes.end());
  if (memory_.size() >= piece) {
    flush();
  }
}

void Output::flush() {
  if (write(memory_)) {
    memory_.clear();
  }
}

// Appends the bytes to the file. Returns false where there is none, and where the disk is full:
// then all previous bytes are in memory.
bool Output::write(std::span<const std::byte> bytes) {
  if (file_ < 0) {
    return false;
  }
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::pwrite(file_, bytes.data() + done, bytes.size() - done,
                                   static_cast<off_t>(written_ + done));
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count == 0 || errno != EINTR) {
      retreat(count == 0 ? ENOSPC : errno);
      return false;
    }
  }
  // Starts writing to the disk now, so that complete() waits for little.
  ::sync_file_range(file_, static_cast<off_t>(written_), static_cast<off_t>(done),
                    SYNC_FILE_RANGE_WRITE);
  written_ += done;
  return true;
}

// Copies the file's bytes in front of those in memory.
void Output::retreat(int code) {
  trouble_ = failure(temporary_, code).one_line();
  std::vector<std::byte> all(written_);
  std::size_t done = 0;
  while (done < all.size()) {
    const ssize_t count =
        ::pread(file_, all.data() + done, all.size() - done, static_cast<off_t>(done));
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count == 0 || errno != EINTR) {
      break; // the rest is zero, which the checksums detect
    }
  }
  all.insert(all.end(), memory_.begin(), memory_.end());
  memory_ = std::move(all);
  written_ = 0;
  close();
}

std::vector<std::byte> Output::read(std::uint64_t offset, std::size_t bytes) {
  flush();
  std::vector<std::byte> result;
  if (offset > size() || bytes > size() - offset) {
    return result;
  }
  if (file_ < 0) {
    const auto begin = memory_.begin() + static_cast<std::ptrdiff_t>(offset);
    result.assign(begin, begin + static_cast<std::ptrdiff_t>(bytes));
    return result;
  }
  result.resize(bytes);
  const ssize_t count = ::pread(file_, result.data(), bytes, static_cast<off_t>(offset));
  result.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return result;
}

void Output::overwrite(std::uint64_t offset, std::span<const std::byte> bytes) {
  flush();
  if (file_ >= 0) {
    const ssize_t count = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count == static_cast<ssize_t>(bytes.size())) {
      return;
    }
    retreat(count < 0 ? errno : ENOSPC);
  }
  if (offset <= memory_.size() && bytes.size() <= memory_.size() - offset) {
    std::ranges::copy(bytes, memory_.begin() + static_cast<std::ptrdiff_t>(offset));
  }
}

std::string Output::complete() {
  flush();
  if (file_ >= 0 && ::fsync(file_) != 0) {
    retreat(errno);
  }
  return file_ >= 0 ? temporary_ : "";
}

Result<void> Output::publish() {
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return std::unexpected(failure(path_, errno));
  }
  temporary_.clear();
  const int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder); // so that the name survives a crash of the machine
    ::close(folder);
  }
  return {};
}

void remove_abandoned(const std::string& path) {
  const std::string begin = fs::path(path).filename().string() + '.';
  std::error_code ended;
  for (fs::directory_iterator at(folder_of(path), ended), end; !ended && at != end;
       at.increment(ended)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(begin) || !name.ends_with(temporary_end)) {
      continue;
    }
    const int file = ::open(at->path().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) {
      continue;
    }
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) {
      ::unlink(at->path().c_str());
    }
    ::close(file);
  }
}

} // namespace ptlens::cache
