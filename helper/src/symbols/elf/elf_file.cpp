// Opening of files for libelf.
#include "symbols/elf/elf_file.hpp"

#include "symbols/elf/opened_files.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <sys/stat.h>
#include <system_error>
#include <utility>

namespace ptlens::symbols {

Result<OpenFile> open_file(const std::string& path) {
  OpenedFiles::add(path);
  // O_NONBLOCK: opening a FIFO under a recorded path must not wait for a writer.
  FileDescriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (!descriptor.valid() || ::fstat(descriptor.get(), &status) != 0) {
    const int number = errno;
    Error error{.message = std::generic_category().message(number), .file = path};
    if (number == ENOENT || number == ENOTDIR) {
      error.kind = Error::Kind::not_found;
      error.remedy = "give the folder that has the recorded binaries";
    } else if (number == EACCES || number == EPERM) {
      error.kind = Error::Kind::no_rights;
      error.remedy = "make the file readable for this user";
    }
    return std::unexpected(std::move(error));
  }
  if (!S_ISREG(status.st_mode)) {
    return std::unexpected(
        Error{.kind = Error::Kind::bad_input, .message = "not a regular file", .file = path});
  }
  return OpenFile{.descriptor = std::move(descriptor), .identity = identity_in(status)};
}

Result<ElfFile> ElfFile::open(const std::string& path,
                              const std::optional<FileIdentity>& expected) {
  static std::once_flag version;
  std::call_once(version, [] { elf_version(EV_CURRENT); });

  Result<OpenFile> file = open_file(path);
  if (!file) {
    return std::unexpected(std::move(file).error());
  }
  if (expected && *expected != file->identity) {
    return std::unexpected(Error{.kind = Error::Kind::bad_input,
                                 .message = "the file has changed since it was opened",
                                 .file = path,
                                 .remedy = "run the measurement again"});
  }
  std::unique_ptr<Elf, ElfDeleter> elf(elf_begin(file->descriptor.get(), ELF_C_READ_MMAP, nullptr));
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF) {
    return std::unexpected(
        Error{.kind = Error::Kind::bad_input,
              .message = file->identity.size == 0 ? "the file is empty" : "not an ELF file",
              .file = path,
              .offset = 0,
              .remedy = "pass the program or library that was measured"});
  }
  return ElfFile(std::move(*file), std::move(elf));
}

} // namespace ptlens::symbols
