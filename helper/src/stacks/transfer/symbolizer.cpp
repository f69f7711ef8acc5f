// Looks addresses up in the symbols of each mapped binary and remembers the answers by address.
#include "stacks/transfer/symbolizer.hpp"

#include "symbols/code_place.hpp"

#include <algorithm>

namespace ptlens::stacks {

FunctionId Symbolizer::add(FunctionInfo function, bool returns_twice, GoRole go_role) {
  functions_.push_back(std::move(function));
  returns_twice_.push_back(static_cast<std::uint8_t>(returns_twice));
  go_roles_.push_back(go_role);
  return FunctionId{static_cast<std::uint32_t>(functions_.size() - 1)};
}

FunctionId Symbolizer::function(const symbols::Binary& binary, const std::string& path,
                                std::uint32_t index) {
  std::vector<FunctionId>& known = of_binary_[&binary].functions;
  if (known.empty()) {
    known.resize(binary.functions().size(), FunctionId::none);
  }
  if (known[index] == FunctionId::none) {
    const symbols::Function& function = binary.functions()[index];
    known[index] = add({function.name, path, function.address, function.file, function.line,
                        function.end_line, binary.linkage_names(index)},
                       symbols::returns_twice(function), stacks::go_role(binary, function));
  }
  return known[index];
}

FunctionId Symbolizer::stand_in(const std::string& name, const std::string& binary) {
  const auto [entry, added] = stand_ins_.try_emplace({name, binary}, functions_.next_id());
  if (added) {
    add({name, binary, 0, "", 0, 0, {}}, false, GoRole::none);
  }
  return entry->second;
}

FunctionId Symbolizer::named(const FunctionInfo& function) {
  const auto [entry, added] =
      named_.try_emplace({function.binary, function.address}, functions_.next_id());
  if (added) {
    add(function, false, GoRole::none);
  }
  return entry->second;
}

FunctionId Symbolizer::signal() {
  return stand_in("[signal]", "[kernel]");
}

FunctionId Symbolizer::outside_filter() {
  return stand_in("[outside the filter]", "[outside the filter]");
}

Symbolizer::Numbered& Symbolizer::add_numbered(const symbols::AddressSpaceVersion& space,
                                               std::uint32_t index) {
  auto& numberings = known_in(space).numbered;
  if (numbering_ >= numberings.size()) {
    numberings.resize(std::size_t{numbering_} + 1);
  }
  numbered_ = &numberings[numbering_];
  numbered_serial_ = space.serial;
  if (index >= numbered_->size()) {
    numbered_->resize(std::max<std::size_t>(std::size_t{index} + 1, 2 * numbered_->size()));
  }
  return (*numbered_)[index];
}

Symbolizer::Labels Symbolizer::labels(const symbols::AddressSpaceVersion& space,
                                      const flow::CodePoints& points) {
  auto& numberings = known_in(space).labels;
  if (numbering_ >= numberings.size()) {
    numberings.resize(std::size_t{numbering_} + 1);
  }
  Labels labels;
  labels.symbolizer_ = this;
  labels.space_ = &space;
  labels.points_ = &points;
  labels.functions_ = &numberings[numbering_].first;
  labels.sites_ = &numberings[numbering_].second;
  return labels;
}

void Symbolizer::Labels::find(flow::Label target, flow::BranchPointId to_id, flow::Label site,
                              flow::BranchPointId from_id) {
  const auto store = []<Id I>(std::vector<I>& known, std::uint32_t at, I id) {
    if (at >= known.size()) {
      known.resize(std::max<std::size_t>(std::size_t{at} + 1, 2 * known.size()), I::none);
    }
    known[at] = id;
  };
  store(*functions_, target, symbolizer_->resolve(*space_, points_->to(to_id)).function);
  store(*sites_, site, symbolizer_->site(*space_, points_->from(from_id).address));
}

SiteId Symbolizer::site_before(const symbols::AddressSpaceVersion& space,
                               std::uint64_t return_address) {
  const symbols::MappedCode* mapped = space.find(return_address);
  if (mapped == nullptr || !mapped->binary) {
    return SiteId::none;
  }
  const auto call = mapped->binary->call_before(return_address - mapped->bias);
  return call ? site(space, *call + mapped->bias) : SiteId::none;
}

CodeLocation Symbolizer::look_up(const symbols::AddressSpaceVersion& space, std::uint64_t address) {
  const symbols::CodePlace found = symbols::place_at(space, address);
  if (found.mapped == nullptr) {
    return code_location(found, stand_in("[unknown]", "[unknown]"));
  }
  if (!found.mapped->binary) {
    return code_location(found, stand_in(missing_code, found.mapped->path));
  }
  if (!found.known) {
    return code_location(found, stand_in("[no symbol]", found.mapped->path));
  }
  return code_location(found, function(*found.mapped->binary, found.mapped->path, found.function));
}

CodeLocation Symbolizer::resolve(const symbols::AddressSpaceVersion& space, std::uint64_t address) {
  auto& locations = known_in(space).locations;
  const auto known = locations.find(address);
  return known != locations.end()
             ? known->second
             : locations.emplace(address, look_up(space, address)).first->second;
}

SiteId Symbolizer::site(const symbols::AddressSpaceVersion& space, std::uint64_t address) {
  auto& known = known_in(space).sites;
  if (const auto found = known.find(address); found != known.end()) {
    return found->second;
  }
  const symbols::MappedCode* mapped = space.find(address);
  const symbols::Binary* binary = mapped == nullptr ? nullptr : mapped->binary.get();
  const std::uint64_t elf_address = binary == nullptr ? address : address - mapped->bias;
  const auto [entry, added] = of_binary_[binary].sites.try_emplace(elf_address, sites_.next_id());
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
