// See ld.so(8), option --list.
#include "record/targets/loader.hpp"

#include "record/processes/child.hpp"
#include "record/processes/descriptor.hpp"

#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <memory>

namespace ptlens::record {

std::string interpreter_of(const std::string& program) {
  const Descriptor file(::open(program.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid() || elf_version(EV_CURRENT) == EV_NONE) {
    return {};
  }
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(file.get(), ELF_C_READ_MMAP, nullptr),
                                                elf_end);
  std::size_t count = 0;
  if (!elf || elf_getphdrnum(elf.get(), &count) != 0) {
    return {};
  }
  for (std::size_t index = 0; index < count; ++index) {
    GElf_Phdr header;
    constexpr std::size_t longest_path = 4096;
    if (gelf_getphdr(elf.get(), static_cast<int>(index), &header) == nullptr ||
        header.p_type != PT_INTERP || header.p_filesz > longest_path) {
      continue;
    }
    const Elf_Data* const data = elf_getdata_rawchunk(
        elf.get(), static_cast<std::int64_t>(header.p_offset), header.p_filesz, ELF_T_BYTE);
    if (data != nullptr && data->d_buf != nullptr) {
      const std::string_view text(static_cast<const char*>(data->d_buf), data->d_size);
      return std::string(text.substr(0, text.find('\0')));
    }
  }
  return {};
}

std::vector<std::string> parse_library_list(std::string_view text) {
  std::vector<std::string> paths;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t path = line.find('/');
    const std::size_t address = line.rfind(" (0x");
    if (path != std::string_view::npos && address != std::string_view::npos && path < address) {
      const std::size_t arrow = line.find("=> /");
      const std::size_t begin = arrow == std::string_view::npos ? path : arrow + 3;
      paths.emplace_back(line.substr(begin, address - begin));
    }
  }
  return paths;
}

std::vector<std::string> libraries_of(const std::string& program,
                                      const std::string& working_directory,
                                      const std::vector<std::string>& environment) {
  const std::string interpreter = interpreter_of(program);
  if (interpreter.empty()) {
    return {};
  }
  auto child = Child::start(ChildOptions{.arguments = {interpreter, "--list", program},
                                         .working_directory = working_directory,
                                         .environment = environment});
  constexpr std::chrono::milliseconds limit(5'000);
  if (!child || !child->wait(limit)) {
    return {};
  }
  return parse_library_list(child->output());
}

} // namespace ptlens::record
