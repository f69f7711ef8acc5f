// Bases as Linux chooses them: the program at 0x55..., libraries downwards from 0x7f....
#include "synth/process.hpp"

#include "synth/random.hpp"

#include <algorithm>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace ptlens::ptsim::synth {
namespace {

constexpr std::uint64_t page = 4096;

std::uint64_t page_of(std::uint64_t address) {
  return address & ~(page - 1);
}

Mapping mapping_of(const ElfCode& elf, const CodeSegment& segment, std::uint64_t base) {
  Mapping mapping;
  mapping.start = page_of(base + segment.address);
  mapping.end = page_of(base + segment.address + segment.size + page - 1);
  mapping.file_offset = page_of(segment.file_offset);
  mapping.protection = PROT_READ | PROT_EXEC;
  mapping.flags = MAP_PRIVATE;
  mapping.path = elf.path();
  struct stat status{};
  if (stat(elf.path().c_str(), &status) == 0) {
    mapping.device_major = major(status.st_dev);
    mapping.device_minor = minor(status.st_dev);
    mapping.inode = status.st_ino;
  }
  return mapping;
}

} // namespace

Process::Process(const CodeGraph& graph, std::uint64_t seed) : graph_(&graph) {
  Random random(seed);
  constexpr std::uint64_t program_area = 0x555555554000;
  constexpr std::uint64_t library_area = 0x7ffff7000000;
  constexpr std::uint64_t random_pages = 1 << 16;
  std::uint64_t next_library = library_area - page * random.below(random_pages);
  std::vector<std::uint64_t> bases;
  for (std::size_t index = 0; index < graph.binaries().size(); ++index) {
    const ElfCode& elf = graph.binaries()[index];
    std::uint64_t base = 0;
    if (elf.position_independent()) {
      std::uint64_t end = 0;
      for (const CodeSegment& segment : elf.segments()) {
        end = std::max<std::uint64_t>(end, segment.address + segment.size);
      }
      next_library -= page_of(end) + page * random.between(1, 64);
      base = index == 0 ? program_area + page * random.below(random_pages) : next_library;
    }
    bases.push_back(base);
    for (const CodeSegment& segment : elf.segments()) {
      mappings_.push_back(mapping_of(elf, segment, base));
    }
    if (const auto found = graph.find_signal_return(index); found && !signal_return_) {
      signal_return_ = base + *found;
    }
  }
  std::ranges::sort(mappings_, {}, &Mapping::start);
  for (const FunctionNode& function : graph.functions()) {
    bases_of_functions_.push_back(bases[function.binary]);
  }
}

const ElfCode& Process::binary(const Mapping& mapping) const {
  return *std::ranges::find(graph_->binaries(), mapping.path, &ElfCode::path);
}

} // namespace ptlens::ptsim::synth
