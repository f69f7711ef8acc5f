#include "record/targets/build_ids.hpp"

#include "record/processes/descriptor.hpp"
#include "symbols/elf/build_id.hpp"

#include <fcntl.h>
#include <memory>

namespace ptlens::record {

std::map<std::string, std::vector<std::uint8_t>> build_ids_of(const TargetFiles& files) {
  std::map<std::string, std::vector<std::uint8_t>> ids;
  if (elf_version(EV_CURRENT) == EV_NONE) {
    return ids;
  }
  for (const TargetFile& file : files.files()) {
    const Descriptor opened(::open(file.open_path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!opened.valid() || file.deleted) {
      continue;
    }
    const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(opened.get(), ELF_C_READ_MMAP, nullptr),
                                                  elf_end);
    if (elf) {
      if (auto id = symbols::read_build_id(elf.get()); !id.empty()) {
        ids.emplace(file.path, std::move(id));
      }
    }
  }
  return ids;
}

} // namespace ptlens::record
