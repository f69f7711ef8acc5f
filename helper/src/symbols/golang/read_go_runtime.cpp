// The types of package runtime are children of its unit, "runtime".
#include "symbols/golang/read_go_runtime.hpp"

#include "symbols/dwarf/dwarf_walk.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace ptlens::symbols {

namespace {

constexpr std::size_t most_children = 1U << 20U;

bool is_named(Dwarf_Die& die, std::string_view name) {
  const char* const own = dwarf_diename(&die);
  return own != nullptr && name == own;
}

// Returns the child with that tag and name.
std::optional<Dwarf_Die> child_of(Dwarf_Die parent, int tag, std::string_view name) {
  Dwarf_Die child = {};
  bool found = dwarf_child(&parent, &child) == 0;
  for (std::size_t seen = 0; found && seen < most_children; ++seen) {
    if (dwarf_tag(&child) == tag && is_named(child, name)) {
      return child;
    }
    Dwarf_Die next = {};
    found = dwarf_siblingof(&child, &next) == 0;
    child = next;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> offset_of(Dwarf_Die member) {
  Dwarf_Attribute attribute = {};
  Dwarf_Word offset = 0;
  constexpr Dwarf_Word largest = 1U << 16U;
  return dwarf_formudata(dwarf_attr(&member, DW_AT_data_member_location, &attribute), &offset) ==
                     0 &&
                 offset < largest
             ? std::optional<std::uint64_t>(offset)
             : std::nullopt;
}

// Returns the type of a member, behind its other names.
std::optional<Dwarf_Die> type_of(Dwarf_Die member) {
  Dwarf_Attribute attribute = {};
  Dwarf_Die type = {};
  if (dwarf_formref_die(dwarf_attr(&member, DW_AT_type, &attribute), &type) == nullptr) {
    return std::nullopt;
  }
  Dwarf_Die plain = {};
  return dwarf_peel_type(&type, &plain) == 0 ? plain : type;
}

std::optional<GoroutineLayout> layout_of(Dwarf_Die unit) {
  const auto descriptor = child_of(unit, DW_TAG_structure_type, "runtime.g");
  const auto stack = descriptor ? child_of(*descriptor, DW_TAG_member, "stack") : std::nullopt;
  const auto number = descriptor ? child_of(*descriptor, DW_TAG_member, "goid") : std::nullopt;
  const auto bounds = stack ? type_of(*stack) : std::nullopt;
  if (!number || !bounds) {
    return std::nullopt;
  }
  const auto low = child_of(*bounds, DW_TAG_member, "lo");
  const auto high = child_of(*bounds, DW_TAG_member, "hi");
  const auto at_stack = offset_of(*stack);
  const auto at_low = low ? offset_of(*low) : std::nullopt;
  const auto at_high = high ? offset_of(*high) : std::nullopt;
  const auto at_number = offset_of(*number);
  if (!at_stack || !at_low || !at_high || !at_number) {
    return std::nullopt;
  }
  return GoroutineLayout{
      .stack_low = *at_stack + *at_low, .stack_high = *at_stack + *at_high, .number = *at_number};
}

// Checks the version in "Go cmd/compile go1.26.8; regabi".
bool passes_goroutine_in_register(std::string_view compiler) {
  constexpr std::string_view mark = " go1.";
  constexpr int first_minor = 18; // Go 1.17 says "regabi" where it does
  int minor = 0;
  const std::size_t at = compiler.find(mark);
  if (at != std::string_view::npos) {
    const std::string_view version = compiler.substr(at + mark.size());
    static_cast<void>(std::from_chars(version.data(), version.data() + version.size(), minor));
  }
  return minor >= first_minor || compiler.contains("regabi");
}

void read_unit(Dwarf_Die unit, GoRuntime& runtime) {
  Dwarf_Attribute attribute = {};
  const char* const producer = dwarf_formstring(dwarf_attr(&unit, DW_AT_producer, &attribute));
  if (producer == nullptr || !std::string_view(producer).starts_with("Go ")) {
    return;
  }
  runtime.compiler = producer;
  runtime.has_goroutine_register = passes_goroutine_in_register(runtime.compiler);
  runtime.goroutine = layout_of(unit);
}

} // namespace

bool has_go_runtime(const ElfImage& image) {
  return std::ranges::any_of(image.sections(), [](const Section& section) {
    return section.name.ends_with(".gopclntab");
  });
}

std::optional<GoRuntime> read_go_runtime(const ElfImage& image, const std::vector<Symbol>& symbols,
                                         const DebugFile& debug_file) {
  const auto named = [&symbols](std::string_view name) {
    return std::ranges::find(symbols, name, &Symbol::name);
  };
  const auto begin = named("runtime.text");
  if (!has_go_runtime(image) || begin == symbols.end()) {
    return std::nullopt;
  }
  GoRuntime runtime;
  // Where Go's code ends with its section, the symbol of the end belongs to no code.
  const auto end = named("runtime.etext");
  runtime.code = {.low = begin->address,
                  .high = end == symbols.end() ? begin->section_end : end->address};
  if (const auto dwarf = open_dwarf(debug_file)) {
    for_each_unit(dwarf->dwarf.get(), [&runtime](Dwarf_Die& unit, Dwarf_Die& contents) {
      if (!runtime.goroutine && is_named(unit, "runtime")) {
        read_unit(contents, runtime);
      }
    });
  }
  return runtime;
}

} // namespace ptlens::symbols
