// process_vm_readv and a cache of decoded instructions.
#include "code/code_reader.hpp"

#include "code/mappings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sys/uio.h>

namespace ptlens::ptsim {
namespace {

constexpr std::size_t longest_instruction = 15;
constexpr std::uint64_t page = 4096;

std::size_t read_within_page(pid_t pid, std::uint64_t address, std::span<std::byte> into) {
  const iovec local{into.data(), into.size()};
  const iovec remote{reinterpret_cast<void*>(address),
                     into.size()}; // NOLINT(performance-no-int-to-ptr)
  const ssize_t size = process_vm_readv(pid, &local, 1, &remote, 1, 0);
  return size < 0 ? 0 : static_cast<std::size_t>(size);
}

// A probe of the kernel's (uprobe) puts int3 in place of an instruction's first byte, which it then
// executes elsewhere: the file has the instruction itself.
void see_through_probe(pid_t pid, std::uint64_t address, std::byte& first) {
  const auto mappings = executable_mappings(pid);
  if (!mappings) {
    return;
  }
  for (const Mapping& mapping : *mappings) {
    if (address < mapping.start || address >= mapping.end || !mapping.path.starts_with('/')) {
      continue;
    }
    std::ifstream file(fmt::format("/proc/{}/root{}", pid, mapping.path), std::ios::binary);
    char original = 0;
    if (file.seekg(static_cast<std::streamoff>(address - mapping.start + mapping.file_offset)) &&
        file.get(original)) {
      first = static_cast<std::byte>(original);
    }
    return;
  }
}

} // namespace

std::size_t read_memory(pid_t pid, std::uint64_t address, std::span<std::byte> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const std::uint64_t in_page = page - (address + done) % page;
    const std::size_t wanted = std::min<std::size_t>(in_page, into.size() - done);
    const std::size_t size = read_within_page(pid, address + done, into.subspan(done, wanted));
    done += size;
    if (size < wanted) {
      break;
    }
  }
  return done;
}

Result<Instruction> CodeReader::at(std::uint64_t address) {
  if (const auto known = known_.find(address); known != known_.end()) {
    return known->second;
  }
  std::array<std::byte, longest_instruction> bytes{};
  const std::size_t size = read_memory(pid_, address, bytes);
  constexpr std::byte int3{0xcc};
  if (size > 0 && bytes.front() == int3) {
    see_through_probe(pid_, address, bytes.front());
  }
  const auto instruction = decode_instruction(std::span(bytes).first(size));
  if (!instruction) {
    return std::unexpected(
        Error{.kind = Error::Kind::bad_input,
              .message = fmt::format("process {} executes {:#x}, where no instruction can be read",
                                     pid_, address)});
  }
  known_.emplace(address, *instruction);
  return *instruction;
}

} // namespace ptlens::ptsim
