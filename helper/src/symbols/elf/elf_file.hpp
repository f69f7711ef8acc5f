// Owning handles for libelf and libdw, and the identity of the open file. With the identity, a
// table that is built later is built from the same file.
#pragma once

#include "base/error.hpp"
#include "base/file_descriptor.hpp"
#include "symbols/elf/file_identity.hpp"

#include <elfutils/libdw.h>
#include <libelf.h>

#include <memory>
#include <optional>
#include <string>

namespace ptlens::symbols {

// Opens a regular file for reading. Errors: not_found, no_rights, bad_input (not a regular file),
// failed.
struct OpenFile {
  FileDescriptor descriptor;
  FileIdentity identity;
};
[[nodiscard]] Result<OpenFile> open_file(const std::string& path);

struct ElfDeleter {
  void operator()(Elf* elf) const { elf_end(elf); }
};
struct DwarfDeleter {
  void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};

// An ELF file, read by libelf. Only one thread at a time may use a handle.
class ElfFile {
public:
  // With `expected`, a file that was replaced or changed since then is refused. Errors: those of
  // open_file, and bad_input (not ELF).
  static Result<ElfFile> open(const std::string& path,
                              const std::optional<FileIdentity>& expected = std::nullopt);

  [[nodiscard]] Elf* elf() const { return elf_.get(); }
  [[nodiscard]] int descriptor() const { return file_.descriptor.get(); }
  [[nodiscard]] const FileIdentity& identity() const { return file_.identity; }

private:
  ElfFile(OpenFile file, std::unique_ptr<Elf, ElfDeleter> elf)
      : file_(std::move(file)), elf_(std::move(elf)) {}

  OpenFile file_;
  std::unique_ptr<Elf, ElfDeleter> elf_;
};

} // namespace ptlens::symbols
