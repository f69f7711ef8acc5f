// Mapped files to libipt sections.
#include "flow/code_image.hpp"

#include <algorithm>

namespace ptlens::flow {

CodeImage::CodeImage(const symbols::AddressSpaceVersion& version)
    : version_(&version), image_(pt_image_alloc(nullptr)) {
  for (const symbols::MappedCode& mapped : version.code) {
    if (mapped.binary) {
      pt_image_add_file(image_.get(), mapped.binary->path().c_str(), mapped.file_offset,
                        mapped.end - mapped.start, nullptr, mapped.start);
    }
  }
}

bool CodeImage::holds(std::uint64_t address) const {
  const symbols::MappedCode* mapped = version_->find(address);
  return mapped != nullptr && mapped->binary &&
         !mapped->binary->code_at(address - mapped->bias).empty();
}

std::optional<Instruction> CodeImage::instruction(std::uint64_t address) const {
  const symbols::MappedCode* mapped = version_->find(address);
  if (mapped == nullptr || !mapped->binary) {
    return std::nullopt;
  }
  const auto bytes = mapped->binary->code_at(address - mapped->bias);
  const auto held = bytes.first(std::min<std::uint64_t>(bytes.size(), mapped->end - address));
  return held.empty() ? std::nullopt
                      : decode_instruction(held, address, mapped->binary->is_64_bit());
}

std::optional<Instruction> CodeImage::known_instruction(std::uint64_t address) {
  const auto [entry, added] = instructions_.try_emplace(address);
  if (added) {
    entry->second = instruction(address);
  }
  return entry->second;
}

} // namespace ptlens::flow
