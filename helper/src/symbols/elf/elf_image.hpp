// The headers of an ELF file: sections, loadable segments and build-id, all checked against the
// size of the file. The code bytes are read on first use.
#pragma once

#include "base/error.hpp"
#include "symbols/elf/elf_file.hpp"
#include "symbols/elf/segment.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::symbols {

struct Section {
  std::string name;
  std::size_t index = 0;
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t entry_size = 0;

  [[nodiscard]] bool executable() const;
  [[nodiscard]] bool contains(std::uint64_t at) const {
    return at >= address && at - address < size;
  }
  [[nodiscard]] std::uint64_t end() const { return address + size; }
};

class ElfImage {
public:
  // Errors: those of ElfFile::open; bad_input with the offset of truncated or contradictory data;
  // unsupported for processors other than x86 and for relocatable objects. `core`: the file is a
  // core file, like /proc/kcore and perf's copies of it.
  static Result<ElfImage> read(const std::string& path, const ElfFile& file, bool core = false);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const FileIdentity& identity() const { return identity_; }
  [[nodiscard]] bool is_64_bit() const { return is_64_bit_; }
  [[nodiscard]] std::span<const std::uint8_t> build_id() const { return build_id_; }
  [[nodiscard]] std::span<const Section> sections() const { return sections_; }
  [[nodiscard]] std::span<const Segment> code_segments() const { return code_segments_; }
  [[nodiscard]] std::span<const LoadSegment> load_segments() const { return load_segments_; }

  [[nodiscard]] const Section* section(std::string_view name) const;
  // Returns the executable section that contains the address, nullptr where there is none.
  [[nodiscard]] const Section* code_section(std::uint64_t address) const;

  // Returns the code bytes from the address to the end of its segment; empty where no segment
  // contains it or the file has changed. Safe to call from any thread.
  [[nodiscard]] std::span<const std::byte> code_at(std::uint64_t address) const;
  // Returns `size` bytes of any loaded segment from the file; nothing where the file does not have
  // them.
  [[nodiscard]] std::optional<std::vector<std::byte>> data_at(std::uint64_t address,
                                                              std::size_t size) const;

private:
  ElfImage() = default;
  void read_code() const;

  std::string path_;
  FileIdentity identity_;
  bool is_64_bit_ = true;
  std::vector<std::uint8_t> build_id_;
  std::vector<Section> sections_;
  std::vector<std::size_t> code_sections_; // indices into sections_, by address
  std::vector<Segment> code_segments_;
  std::vector<LoadSegment> load_segments_;
  std::unique_ptr<std::once_flag> code_once_ = std::make_unique<std::once_flag>();
  mutable std::vector<std::vector<std::byte>> code_; // by segment
};

// Returns the sections of any ELF file. Sections beyond the end of the file are left out.
[[nodiscard]] std::vector<Section> read_sections(Elf* elf, std::uint64_t file_size);

// Returns NT_GNU_BUILD_ID, empty where there is none.
[[nodiscard]] std::vector<std::uint8_t> read_build_id(Elf* elf);

} // namespace ptlens::symbols
