// Lookup from the mapping to the binary's function table.
#include "symbols/code_place.hpp"

#include <algorithm>
#include <string_view>

namespace ptlens::symbols {

CodePlace place_at(const AddressSpaceVersion& space, std::uint64_t address) {
  CodePlace place{.mapped = space.find(address)};
  if (place.mapped == nullptr || !place.mapped->binary) {
    return place;
  }
  const Binary& binary = *place.mapped->binary;
  const std::uint64_t elf_address = address - place.mapped->bias;
  const auto index = binary.function_at(elf_address);
  if (!index) {
    return place;
  }
  const Function& function = binary.functions()[*index];
  place.function = function.original == function.address
                       ? *index
                       : binary.function_entry(function.original).value_or(*index);
  place.known = true;
  place.entry = function.address == elf_address;
  place.part = function.part && place.function != *index;
  place.thunk = function.kind == Function::Kind::thunk;
  place.is_stub = place.thunk || function.kind == Function::Kind::plt_stub ||
                  function.kind == Function::Kind::resolver;
  return place;
}

bool returns_twice(const Function& function) {
  static constexpr std::string_view names[] = {
      "setjmp",     "_setjmp",      "__sigsetjmp",       "sigsetjmp",
      "getcontext", "__getcontext", "__sigsetjmp_cancel"};
  return std::ranges::find(names, function.name) != std::end(names);
}

} // namespace ptlens::symbols
