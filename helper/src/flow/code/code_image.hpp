// The code of one version of an address space, for decoders: libipt's image of the code, and the
// instructions that end blocks.
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
  // Returns libipt's image, which is made at the first call; null where there is no memory for it.
  // The image leaves out mappings whose binary is missing.
  [[nodiscard]] pt_image* libipt();
  // Returns true where the bytes at the address are known.
  [[nodiscard]] bool holds(std::uint64_t address) const;
  // Returns what the symbols say about the address.
  [[nodiscard]] symbols::CodePlace place(std::uint64_t address) const {
    return symbols::place_at(*version_, address);
  }
  // Returns the instruction at a process address; nullopt where no code is known there, or the
  // bytes are no instruction.
  [[nodiscard]] std::optional<Instruction> instruction(std::uint64_t address) const;
  // The same, with a cache.
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
