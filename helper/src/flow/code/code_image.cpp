// Adds mapped files as libipt sections. Without a section cache, libipt drops what it knows of a
// section when it goes to another one, and maps the file again when it comes back.
#include "flow/code/code_image.hpp"

#include <algorithm>

namespace ptlens::flow {

pt_image* CodeImage::libipt() {
  if (image_) {
    return image_.get();
  }
  image_.reset(pt_image_alloc(nullptr));
  sections_.reset(pt_iscache_alloc(nullptr));
  if (!image_ || !sections_) {
    return image_.get();
  }
  pt_iscache_set_limit(sections_.get(), UINT64_MAX); // of mapped files, which take no memory
  for (const symbols::MappedCode& mapped : version_->code) {
    if (mapped.binary) {
      const int section =
          pt_iscache_add_file(sections_.get(), mapped.binary->path().c_str(), mapped.file_offset,
                              mapped.end - mapped.start, mapped.start);
      if (section > 0) {
        pt_image_add_cached(image_.get(), sections_.get(), section, nullptr);
      }
    }
  }
  return image_.get();
}

bool CodeImage::holds(std::uint64_t address) const {
  const symbols::MappedCode* mapped = version_->find(address);
  return mapped != nullptr && mapped->binary &&
         !mapped->binary->code_at(address - mapped->bias).empty();
}

bool CodeImage::stays_inside(const symbols::MappedCode& mapped, std::uint64_t from,
                             std::uint64_t to) {
  if (to < mapped.start || to >= mapped.end) {
    return false;
  }
  const symbols::Binary& binary = *mapped.binary;
  const auto function = binary.function_at(from - mapped.bias);
  return function && function == binary.function_at(to - mapped.bias) &&
         binary.functions()[*function].kind == symbols::Function::Kind::code &&
         binary.functions()[*function].address != to - mapped.bias;
}

std::optional<Instruction> CodeImage::instruction(std::uint64_t address) const {
  const symbols::MappedCode* mapped = version_->find(address);
  if (mapped == nullptr || !mapped->binary) {
    return std::nullopt;
  }
  const auto bytes = mapped->binary->code_at(address - mapped->bias);
  const auto held = bytes.first(std::min<std::uint64_t>(bytes.size(), mapped->end - address));
  if (held.empty()) {
    return std::nullopt;
  }
  auto instruction = decode_instruction(held, address, mapped->binary->is_64_bit());
  if (instruction && (instruction->kind == InstructionClass::conditional ||
                      instruction->kind == InstructionClass::jump_direct)) {
    instruction->inside = stays_inside(*mapped, address, instruction->target);
  }
  return instruction;
}

std::optional<Instruction> CodeImage::known_instruction(std::uint64_t address) {
  const auto known = instructions_.find(address);
  return known != instructions_.end()
             ? known->second
             : instructions_.emplace(address, instruction(address)).first->second;
}

} // namespace ptlens::flow
