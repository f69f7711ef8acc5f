// Mapped files to libipt sections.
#include "flow/code_image.hpp"

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

std::span<const std::byte> CodeImage::code(std::uint64_t address) const {
  const symbols::MappedCode* mapped = version_->find(address);
  if (mapped == nullptr || !mapped->binary) {
    return {};
  }
  const auto bytes = mapped->binary->code_at(address - mapped->bias);
  return bytes.first(std::min<std::uint64_t>(bytes.size(), mapped->end - address));
}

bool CodeImage::holds(std::uint64_t address) const {
  return !code(address).empty();
}

std::optional<Instruction> CodeImage::instruction(std::uint64_t address) {
  const auto [entry, added] = instructions_.try_emplace(address);
  if (added) {
    const symbols::MappedCode* mapped = version_->find(address);
    const bool wide = mapped == nullptr || !mapped->binary || mapped->binary->is_64_bit();
    const auto bytes = code(address);
    if (!bytes.empty()) {
      entry->second = decode_instruction(bytes, address, wide);
    }
  }
  return entry->second;
}

} // namespace ptlens::flow
