// What a decoder needs of one version of an address space: libipt's image of its code, and the
// instructions by which blocks end.
#pragma once

#include "flow/code/address_map.hpp"
#include "flow/code/instruction.hpp"
#include "symbols/address_space.hpp"
#include "symbols/code_place.hpp"

#include <intel-pt.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace ptlens::flow {

class CodeImage {
public:
  // `version` must outlive the image.
  explicit CodeImage(const symbols::AddressSpaceVersion& version) : version_(&version) {}

  [[nodiscard]] std::uint64_t serial() const { return version_->serial; }
  // Made when first asked for; null where there is no memory for it. Mappings whose binary is
  // missing stay out of it.
  [[nodiscard]] pt_image* libipt();
  // True when the bytes at the address are known.
  [[nodiscard]] bool holds(std::uint64_t address) const;
  // What the symbols say of the address.
  [[nodiscard]] symbols::CodePlace place(std::uint64_t address) const {
    return symbols::place_at(*version_, address);
  }
  // The instruction at a process address; nothing where no code is known or it is none.
  [[nodiscard]] std::optional<Instruction> instruction(std::uint64_t address) const;
  // The same, remembered.
  [[nodiscard]] std::optional<Instruction> known_instruction(std::uint64_t address);

private:
  struct Free {
    void operator()(pt_image* image) const { pt_image_free(image); }
    void operator()(pt_image_section_cache* sections) const { pt_iscache_free(sections); }
  };
  [[nodiscard]] static bool stays_inside(const symbols::MappedCode& mapped, std::uint64_t from,
                                         std::uint64_t to);

  const symbols::AddressSpaceVersion* version_;
  std::unique_ptr<pt_image_section_cache, Free> sections_; // outlives the image
  std::unique_ptr<pt_image, Free> image_;
  AddressMap<std::optional<Instruction>> instructions_;
};

} // namespace ptlens::flow
