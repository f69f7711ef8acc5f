// Look-ups through the symbols of each mapped binary, remembered by address.
#include "stacks/resolver.hpp"

#include <algorithm>
#include <string_view>

namespace ptlens::stacks {
namespace {

bool names_returning_twice(std::string_view name) {
  static constexpr std::string_view names[] = {
      "setjmp",     "_setjmp",      "__sigsetjmp",       "sigsetjmp",
      "getcontext", "__getcontext", "__sigsetjmp_cancel"};
  return std::ranges::find(names, name) != std::end(names);
}

} // namespace

std::uint32_t Resolver::add(FunctionInfo function, bool returns_twice) {
  functions_.push_back(std::move(function));
  returns_twice_.push_back(static_cast<std::uint8_t>(returns_twice));
  return static_cast<std::uint32_t>(functions_.size() - 1);
}

std::uint32_t Resolver::function(const symbols::Binary& binary, const std::string& path,
                                 std::uint32_t index) {
  const auto [entry, added] =
      by_index_.try_emplace({&binary, index}, static_cast<std::uint32_t>(functions_.size()));
  if (added) {
    const symbols::Function& function = binary.functions()[index];
    add({function.name, path, function.address, function.file, function.line, function.end_line},
        names_returning_twice(function.name));
  }
  return entry->second;
}

std::uint32_t Resolver::stand_in(const std::string& name, const std::string& binary) {
  const auto [entry, added] =
      stand_ins_.try_emplace({name, binary}, static_cast<std::uint32_t>(functions_.size()));
  if (added) {
    add({name, binary, 0, "", 0, 0}, false);
  }
  return entry->second;
}

std::uint32_t Resolver::signal() {
  return stand_in("[signal]", "[kernel]");
}

std::uint32_t Resolver::outside_filter() {
  return stand_in("[outside the filter]", "[outside the filter]");
}

Resolver::Numbered& Resolver::add_numbered(const symbols::AddressSpaceVersion& space,
                                           std::uint32_t number) {
  auto& numberings = known_in(space).numbered;
  if (numbering_ >= numberings.size()) {
    numberings.resize(std::size_t{numbering_} + 1);
  }
  numbered_ = &numberings[numbering_];
  numbered_serial_ = space.serial;
  if (number >= numbered_->size()) {
    numbered_->resize(std::max<std::size_t>(std::size_t{number} + 1, 2 * numbered_->size()));
  }
  return (*numbered_)[number];
}

std::uint32_t Resolver::site_before(const symbols::AddressSpaceVersion& space,
                                    std::uint64_t return_address) {
  const symbols::MappedCode* mapped = space.find(return_address);
  if (mapped == nullptr || !mapped->binary) {
    return no_site;
  }
  const auto call = mapped->binary->call_before(return_address - mapped->bias);
  return call ? site(space, *call + mapped->bias) : no_site;
}

Place Resolver::look_up(const symbols::AddressSpaceVersion& space, std::uint64_t address) {
  Place place;
  const symbols::MappedCode* mapped = space.find(address);
  if (mapped == nullptr) {
    place.function = stand_in("[unknown]", "[unknown]");
    return place;
  }
  if (!mapped->binary) {
    place.function = stand_in("[missing code]", mapped->path);
    return place;
  }
  const symbols::Binary& binary = *mapped->binary;
  const std::uint64_t elf_address = address - mapped->bias;
  const auto index = binary.function_at(elf_address);
  if (!index) {
    place.function = stand_in("[no symbol]", mapped->path);
    return place;
  }
  const symbols::Function& function = binary.functions()[*index];
  const std::uint32_t original = binary.function_entry(function.original).value_or(*index);
  place.function = this->function(binary, mapped->path, original);
  place.entry = function.address == elf_address;
  place.part = function.part && original != *index;
  place.thunk = function.kind == symbols::Function::Kind::thunk;
  place.folded = place.thunk || function.kind == symbols::Function::Kind::plt_stub ||
                 function.kind == symbols::Function::Kind::resolver;
  place.known = true;
  return place;
}

Place Resolver::resolve(const symbols::AddressSpaceVersion& space, std::uint64_t address) {
  auto& places = known_in(space).places;
  const auto known = places.find(address);
  return known != places.end() ? known->second
                               : places.emplace(address, look_up(space, address)).first->second;
}

std::uint32_t Resolver::site(const symbols::AddressSpaceVersion& space, std::uint64_t address) {
  auto& known = known_in(space).sites;
  if (const auto found = known.find(address); found != known.end()) {
    return found->second;
  }
  const symbols::MappedCode* mapped = space.find(address);
  const symbols::Binary* binary = mapped == nullptr ? nullptr : mapped->binary.get();
  const std::uint64_t elf_address = binary == nullptr ? address : address - mapped->bias;
  const auto [entry, added] =
      site_of_.try_emplace({binary, elf_address}, static_cast<std::uint32_t>(sites_.size()));
  if (added) {
    CallSite site;
    site.function = resolve(space, address).function;
    site.address = elf_address;
    if (binary != nullptr) {
      if (auto line = binary->line_at(elf_address)) {
        site.file = std::move(line->file);
        site.line = line->line;
      }
    }
    sites_.push_back(std::move(site));
  }
  known.emplace(address, entry->second);
  return entry->second;
}

} // namespace ptlens::stacks
