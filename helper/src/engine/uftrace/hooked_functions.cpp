#include "engine/uftrace/hooked_functions.hpp"

#include "symbols/names/demangle.hpp"

#include <string_view>

namespace ptlens::engine {

namespace {

// Returns whether the address is in a part of its function other than the one with the entry.
bool is_cold_part(const symbols::MappedCode* mapped, std::uint64_t address) {
  if (mapped == nullptr || !mapped->binary) {
    return false;
  }
  const std::uint64_t elf_address = address - mapped->bias;
  const auto index = mapped->binary->function_at(elf_address);
  if (!index) {
    return false;
  }
  const auto& ranges = mapped->binary->functions()[*index].ranges;
  return ranges.size() > 1 && !ranges.front().contains(elf_address);
}

// The dynamic linker has functions of the same names as the C library for itself.
bool is_dynamic_linker(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with("ld-linux") || name.starts_with("ld-2.");
}

} // namespace

// Returns the function that the PLT stub at the address is bound to; none where it is not found.
stacks::FunctionId HookedFunctions::bound(const symbols::AddressSpaceVersion& space,
                                          const symbols::MappedCode& mapped,
                                          std::uint64_t address) {
  const auto stub = mapped.binary->function_at(address - mapped.bias);
  const auto wanted = stub ? mapped.binary->stub_target(*stub) : std::nullopt;
  if (!wanted) {
    return stacks::FunctionId::none;
  }
  const symbols::Binary* last = nullptr;
  for (const symbols::MappedCode& code : space.code) {
    if (!code.binary || code.binary.get() == last || is_dynamic_linker(code.path)) {
      continue;
    }
    last = code.binary.get();
    for (const std::uint32_t index : code.binary->find(*wanted)) {
      const std::string_view name = code.binary->functions()[index].linkage_name;
      if (name.substr(0, name.find('@')) == *wanted) { // "memcpy@@GLIBC_2.14"
        binaries_.insert(code.path);
        return symbolizer_.function(*code.binary, code.path, index);
      }
    }
  }
  return symbolizer_.named({.name = symbols::demangle(*wanted),
                            .binary = mapped.path,
                            .address = address - mapped.bias,
                            .file = "",
                            .linkage_names = {*wanted}});
}

stacks::FunctionId HookedFunctions::from_uftrace(const symbols::MappedCode& mapped,
                                                 std::uint64_t address) {
  const auto [file, added] = symbol_files_.try_emplace(mapped.path);
  if (added) {
    file->second = loaded_->hooked->symbols_of(mapped.path, mapped.build_id);
  }
  const std::uint64_t base = loaded_->hooked->info.relative_symbols ? mapped.start : 0;
  const uftrace::Symbol* const symbol = file->second.find(address - base);
  return symbol == nullptr ? stacks::FunctionId::none
                           : symbolizer_.named({.name = symbols::demangle(symbol->name),
                                                .binary = mapped.path,
                                                .address = symbol->address,
                                                .file = "",
                                                .linkage_names = {symbol->name}});
}

HookedFunction HookedFunctions::look_up(const symbols::AddressSpaceVersion& space,
                                        std::uint64_t address) {
  const symbols::MappedCode* const mapped = space.find(address);
  stacks::FunctionId known = stacks::FunctionId::none;
  if (mapped != nullptr) {
    binaries_.insert(mapped->path);
    if (!mapped->binary) {
      known = from_uftrace(*mapped, address);
    } else if (symbols::place_at(space, address).is_stub) {
      known = bound(space, *mapped, address);
    }
  }
  if (known != stacks::FunctionId::none) {
    return {.function = known,
            .returns_twice = symbolizer_.returns_twice(known),
            .stub = mapped->binary != nullptr};
  }
  const stacks::CodeLocation place = symbolizer_.resolve(space, address);
  return {.function = place.function,
          .part = place.part || is_cold_part(mapped, address),
          .returns_twice = place.returns_twice};
}

} // namespace ptlens::engine
