// Two walks over the DIEs (DWARF 5, sections 3.3.8.1 and 3.3.8.2): first for the abstract instances
// of functions that match the name, then for the inlined instances that refer to one of them.
#include "symbols/functions/inlined_instances.hpp"

#include "symbols/dwarf/die_attributes.hpp"
#include "symbols/dwarf/dwarf_walk.hpp"
#include "symbols/dwarf/source_path.hpp"
#include "symbols/names/demangle.hpp"
#include "symbols/names/name_shape.hpp"
#include "symbols/names/wanted_name.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

namespace ptlens::symbols {

namespace {

constexpr std::size_t most_instances = std::size_t{1} << 16U;
constexpr std::size_t most_scope_searches =
    1024; // each search reads all functions and walks a unit

struct Abstract { // an abstract instance
  std::string name;
  std::string linkage_name;
  std::string file;
  std::uint32_t line = 0;
  std::size_t match = 0; // kind of match, see WantedName
};

class Finder {
public:
  Finder(const ElfImage& image, const FunctionTable& table, std::string_view name)
      : image_(image), table_(table), wanted_(name), typed_(name),
        bare_(without_parameters(demangle(name))), last_(last_component(demangle(name))) {}

  void find_abstract(Dwarf_Die unit, const std::string& folder) {
    for_each_die(unit, [&](Dwarf_Die& die, const std::vector<Dwarf_Die>&) {
      const int tag = dwarf_tag(&die);
      if (tag == DW_TAG_subprogram && dwarf_hasattr(&die, DW_AT_inline)) {
        add_abstract(die, folder);
      }
      return may_contain_subprograms(tag);
    });
  }

  [[nodiscard]] bool found_abstract() const { return !abstract_.empty(); }

  // Keeps only the best kind of match.
  void keep_best() {
    std::size_t best = WantedName::match_kinds;
    for (const auto& [instance, abstract] : abstract_) {
      best = std::min(best, abstract.match);
    }
    std::erase_if(abstract_, [best](const auto& entry) { return entry.second.match != best; });
  }

  void find_instances(Dwarf_Die unit, const std::string& folder) {
    for_each_die(unit, [&](Dwarf_Die& die, const std::vector<Dwarf_Die>& parents) {
      const int tag = dwarf_tag(&die);
      if (tag == DW_TAG_inlined_subroutine) {
        if (const Abstract* abstract = abstract_of(die); abstract != nullptr) {
          const auto depth = std::ranges::count_if(parents, [](Dwarf_Die parent) {
            return dwarf_tag(&parent) == DW_TAG_inlined_subroutine;
          });
          add_instance(die, *abstract, static_cast<std::uint32_t>(depth), folder);
        }
      }
      return may_contain_subprograms(tag) || tag == DW_TAG_inlined_subroutine ||
             tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
    });
  }

  std::vector<InlinedInstance> take() {
    std::ranges::stable_sort(instances_, {}, [](const InlinedInstance& instance) {
      return std::tuple(instance.entry, instance.depth);
    });
    return std::move(instances_);
  }

private:
  // The address of its bytes identifies a DIE: offsets repeat in supplementary and split files.
  using Key = const void*;

  void add_abstract(Dwarf_Die die, const std::string& folder) {
    const char* own_name = dwarf_diename(&die);
    const std::string name = own_name == nullptr ? "" : own_name;
    std::string linkage_name = linker_name(die);
    if (linkage_name == name) {
      linkage_name.clear();
    }
    if (!name.starts_with(last_) && linkage_name != typed_) {
      return;
    }
    Abstract abstract;
    int line = 0;
    const char* file = dwarf_decl_file(&die);
    if (file != nullptr && dwarf_decl_line(&die, &line) == 0 && line > 0) {
      abstract.file = normal_path(file, folder);
      abstract.line = static_cast<std::uint32_t>(line);
    }
    abstract.name =
        linkage_name.empty() ? unlinked_name(die, name, abstract) : demangle(linkage_name);
    abstract.linkage_name = linkage_name.empty() ? name : linkage_name;
    if (const auto match = wanted_.match(abstract.name, abstract.linkage_name)) {
      abstract.match = *match;
      abstract_.emplace(die.addr, std::move(abstract));
    }
  }

  // Returns a name for a static function, for which GCC writes no linkage name: the name of its
  // out-of-line copy, else the name with its namespaces and classes, without parameters.
  std::string unlinked_name(Dwarf_Die die, const std::string& name, const Abstract& abstract) {
    if (scope_searches_ == most_scope_searches) {
      return name;
    }
    ++scope_searches_;
    if (abstract.line != 0) {
      for (const Function& function : table_.functions()) {
        if (function.line == abstract.line && function.file == abstract.file &&
            !is_clone(function.name) && last_component(function.name) == without_parameters(name)) {
          return function.name;
        }
      }
    }
    Dwarf_Attribute attribute = {};
    Dwarf_Die declared = die;
    if (dwarf_attr(&die, DW_AT_specification, &attribute) != nullptr &&
        dwarf_formref_die(&attribute, &declared) == nullptr) {
      declared = die;
    }
    Dwarf_Die* scopes = nullptr;
    const int count = dwarf_getscopes_die(&declared, &scopes);
    const std::unique_ptr<Dwarf_Die, decltype(&std::free)> owner(scopes, &std::free);
    std::string full = name;
    for (int i = 1; i < count; ++i) { // 0 is the function
      switch (dwarf_tag(&scopes[i])) {
      case DW_TAG_namespace:
      case DW_TAG_class_type:
      case DW_TAG_structure_type:
      case DW_TAG_union_type: {
        const char* scope = dwarf_diename(&scopes[i]);
        full.insert(0, std::string(scope == nullptr ? "(anonymous namespace)" : scope) + "::");
        break;
      }
      default:
        break;
      }
    }
    return full;
  }

  // Link-time optimisation creates chains of references.
  const Abstract* abstract_of(Dwarf_Die die) const {
    constexpr int most_steps = 4;
    for (int step = 0; step < most_steps; ++step) {
      Dwarf_Attribute attribute = {};
      Dwarf_Die origin = {};
      if (dwarf_attr(&die, DW_AT_abstract_origin, &attribute) == nullptr ||
          dwarf_formref_die(&attribute, &origin) == nullptr) {
        return nullptr;
      }
      if (const auto found = abstract_.find(origin.addr); found != abstract_.end()) {
        return &found->second;
      }
      die = origin;
    }
    return nullptr;
  }

  void add_instance(Dwarf_Die die, const Abstract& abstract, std::uint32_t depth,
                    const std::string& folder) {
    InlinedInstance instance;
    instance.ranges = code_ranges(die, image_);
    if (instance.ranges.empty() || instances_.size() == most_instances) {
      return;
    }
    instance.entry = entry_of(die, instance.ranges);
    if (image_.code_section(instance.entry) == nullptr) {
      return;
    }
    put_entry_first(instance.ranges, instance.entry);
    instance.name = abstract.name;
    instance.linkage_name = abstract.linkage_name;
    instance.file = abstract.file;
    instance.line = abstract.line;
    instance.function = table_.at(instance.ranges.front().low);
    instance.depth = depth;
    if (auto call = replaced_call(die, folder)) {
      instance.call_file = std::move(call->file);
      instance.call_line = call->line;
    }
    instances_.push_back(std::move(instance));
  }

  // Returns the entry. DW_AT_entry_pc is an address or an offset from the low one (DWARF 5, section
  // 2.18).
  static std::uint64_t entry_of(Dwarf_Die die, const std::vector<AddressRange>& ranges) {
    const std::uint64_t lowest = std::ranges::min(ranges, {}, &AddressRange::low).low;
    Dwarf_Attribute attribute = {};
    if (dwarf_attr(&die, DW_AT_entry_pc, &attribute) == nullptr) {
      return lowest;
    }
    Dwarf_Addr entry = 0;
    if (dwarf_formaddr(&attribute, &entry) == 0) {
      return entry;
    }
    Dwarf_Addr low = 0;
    Dwarf_Word offset = 0;
    if (dwarf_formudata(&attribute, &offset) != 0) {
      return lowest;
    }
    return (dwarf_lowpc(&die, &low) == 0 ? low : lowest) + offset;
  }

  const ElfImage& image_;
  const FunctionTable& table_;
  WantedName wanted_;
  std::string typed_;
  std::string bare_;
  std::string last_; // last component of bare_
  std::map<Key, Abstract> abstract_;
  std::vector<InlinedInstance> instances_;
  std::size_t scope_searches_ = 0;
};

} // namespace

std::vector<InlinedInstance> find_inlined(const DebugFile& file, const ElfImage& image,
                                          const FunctionTable& table, std::string_view name) {
  const std::optional<OpenDwarf> open = open_dwarf(file);
  if (!open || name.empty()) {
    return {};
  }
  Finder finder(image, table, name);
  for_each_unit(open->dwarf.get(), [&](Dwarf_Die unit, Dwarf_Die contents) {
    finder.find_abstract(contents, compilation_folder(&unit));
  });
  if (!finder.found_abstract()) {
    return {};
  }
  finder.keep_best();
  for_each_unit(open->dwarf.get(), [&](Dwarf_Die unit, Dwarf_Die contents) {
    finder.find_instances(contents, compilation_folder(&unit));
  });
  return finder.take();
}

} // namespace ptlens::symbols
