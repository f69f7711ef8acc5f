// Reads the places from debug information and numbers them.
#include "engine/inlined/inlined_places.hpp"

#include "measure/names/names.hpp"
#include "stacks/calls/remove_calls.hpp"

#include <utility>

namespace ptlens::engine {
namespace {

constexpr std::uint32_t first_number = std::uint32_t{1} << 31U;

} // namespace

InlinedPlaces::InlinedPlaces(const LoadedRecording& loaded, const std::string& name,
                             const std::string& binary)
    : counted_({}) {
  for (const symbols::MappedCode* code : loaded.spaces->binaries()) {
    if (binary.empty() || measure::shared_path_end(code->path, binary) != 0) {
      add(*code, name);
    }
  }
  counted_ = stacks::CountedPlaces(std::move(places_));
  result_.filtered = !loaded.address_filter().empty();
}

void InlinedPlaces::add(const symbols::MappedCode& code, const std::string& name) {
  for (symbols::InlinedInstance& place : code.binary->inlined(name)) {
    const std::uint32_t function = function_of(code.path, place);
    const auto site = static_cast<std::uint32_t>(sites_.size());
    sites_.push_back({.function = stacks::FunctionId::none,
                      .address = place.entry,
                      .file = std::move(place.call_file),
                      .line = place.call_line});
    holders_.push_back({.code = &code, .function = place.function});
    std::vector<symbols::AddressRange> home = place.ranges;
    if (place.function) {
      home = code.binary->functions()[*place.function].ranges;
    }
    places_.push_back({.binary = code.binary.get(),
                       .function = stacks::FunctionId{first_number + function},
                       .site = stacks::SiteId{first_number + site},
                       .entry = place.entry,
                       .ranges = std::move(place.ranges),
                       .home = std::move(home),
                       .depth = place.depth});
  }
}

// The identity of an inlined function is its binary, name and declaration. Its address is that of
// the first place.
std::uint32_t InlinedPlaces::function_of(const std::string& path,
                                         const symbols::InlinedInstance& place) {
  const auto [at, added] =
      numbers_.try_emplace(std::tuple(path, place.name, place.linkage_name, place.file, place.line),
                           static_cast<std::uint32_t>(functions_.size()));
  if (added) {
    functions_.push_back({.name = place.name,
                          .binary = path,
                          .address = place.entry,
                          .file = place.file,
                          .line = place.line,
                          .end_line = place.line});
  }
  return at->second;
}

void InlinedPlaces::finish(stacks::CallTable& calls, stacks::Symbolizer& symbolizer) {
  stacks::remove_calls(calls, stacks::uncountable_executions(calls, counted_));
  result_.called_functions = symbolizer.functions().size();
  result_.called_sites = symbolizer.sites().size();
  for (std::size_t place = 0; place < holders_.size(); ++place) {
    if (const Holder& holder = holders_[place]; holder.function) {
      sites_[place].function =
          symbolizer.function(*holder.code->binary, holder.code->path, *holder.function);
    }
  }
  const auto function_base = static_cast<std::uint32_t>(symbolizer.functions().size());
  const auto site_base = static_cast<std::uint32_t>(symbolizer.sites().size());
  const auto final_function = [&](stacks::FunctionId function) {
    return stacks::FunctionId{index_of(function) - first_number + function_base};
  };
  const auto final_site = [&](stacks::SiteId site) {
    return stacks::SiteId{index_of(site) - first_number + site_base};
  };
  for (std::size_t row = 0; row < calls.size(); ++row) {
    if (index_of(calls.function[row]) >= first_number) {
      calls.function[row] = final_function(calls.function[row]);
      calls.site[row] = final_site(calls.site[row]);
    }
  }
  const auto& places = counted_.places();
  for (std::uint32_t place = 0; place < places.size(); ++place) {
    result_.places.push_back({.function = final_function(places[place].function),
                              .holder = sites_[place].function,
                              .site = final_site(places[place].site),
                              .countable = !result_.filtered && counted_.countable(place)});
  }
  auto& functions = symbolizer.functions();
  functions.insert(functions.end(), std::make_move_iterator(functions_.begin()),
                   std::make_move_iterator(functions_.end()));
  auto& sites = symbolizer.sites();
  sites.insert(sites.end(), std::make_move_iterator(sites_.begin()),
               std::make_move_iterator(sites_.end()));
}

} // namespace ptlens::engine
