// Converts process addresses to functions and call sites. Each function and call site has one
// number for the whole recording.
#pragma once

#include "flow/branches/branch.hpp"
#include "flow/code/address_map.hpp"
#include "flow/code/code_points.hpp"
#include "stacks/calls/call.hpp"
#include "stacks/transfer/code_location.hpp"
#include "stacks/transfer/goroutine_switch.hpp"
#include "symbols/address_space.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ptlens::stacks {

// The name of the function to which the code of a binary belongs that could not be read.
inline constexpr const char* missing_code = "[missing code]";

class Symbolizer {
public:
  // Returns the location; its function is always an index into functions(). All addresses of a
  // binary that no function covers belong to one function, "[no symbol]". Without the binary the
  // function is "[missing code]", and where nothing is mapped "[unknown]".
  [[nodiscard]] CodeLocation resolve(const symbols::AddressSpaceVersion& space,
                                     std::uint64_t address);

  [[nodiscard]] std::uint32_t numbering() const { return numbering_; }
  // The ids of branches given from here on are of that numbering; see flow::Run.
  void set_numbering(std::uint32_t numbering) {
    if (numbering != numbering_) {
      numbering_ = numbering;
      numbered_ = nullptr;
    }
  }

  // Starts to load what a later call needs about the branch, if the branch is in the last space.
  void prefetch(const flow::Branch& branch) const {
    if (numbered_ != nullptr && index_of(branch.to_id) < numbered_->size() &&
        index_of(branch.from_id) < numbered_->size()) {
      __builtin_prefetch(&(*numbered_)[index_of(branch.to_id)]);
      __builtin_prefetch(&(*numbered_)[index_of(branch.from_id)]);
    }
  }

  // Returns the location that the branch goes to. Its ids, if it has any, refer to the space.
  [[nodiscard]] CodeLocation to(const symbols::AddressSpaceVersion& space,
                                const flow::Branch& branch) {
    if (branch.to_id == flow::BranchPointId::none) {
      return resolve(space, branch.to);
    }
    Numbered& known = numbered(space, branch.to_id);
    if (known.to.function == FunctionId::none) {
      known.to = resolve(space, branch.to);
    }
    return known.to;
  }
  // Returns the function that the branch comes from.
  [[nodiscard]] FunctionId from(const symbols::AddressSpaceVersion& space,
                                const flow::Branch& branch) {
    if (branch.from_id == flow::BranchPointId::none) {
      return resolve(space, branch.from).function;
    }
    Numbered& known = numbered(space, branch.from_id);
    if (known.from == FunctionId::none) {
      known.from = resolve(space, branch.from).function;
    }
    return known.from;
  }
  // Returns the call site that the branch comes from, an index into sites().
  [[nodiscard]] SiteId site(const symbols::AddressSpaceVersion& space, const flow::Branch& branch) {
    if (branch.from_id == flow::BranchPointId::none) {
      return site(space, branch.from);
    }
    Numbered& known = numbered(space, branch.from_id);
    if (known.site == SiteId::none) {
      known.site = site(space, branch.from);
    }
    return known.site;
  }

  // The functions and call sites of a graph of code, by the labels of the targets and sites: see
  // CallTargets.
  class Labels {
  public:
    // To be called before function() and site() for a call with these labels: `from_id` and `to_id`
    // are the ids of the branch that began the call.
    void learn(flow::Label target, flow::BranchPointId to_id, flow::Label site,
               flow::BranchPointId from_id) {
      if (target >= functions_->size() || (*functions_)[target] == FunctionId::none ||
          site >= sites_->size() || (*sites_)[site] == SiteId::none) [[unlikely]] {
        find(target, to_id, site, from_id);
      }
    }
    [[nodiscard]] FunctionId function(flow::Label target) const { return (*functions_)[target]; }
    [[nodiscard]] SiteId site(flow::Label site) const { return (*sites_)[site]; }

  private:
    friend class Symbolizer;
    void find(flow::Label target, flow::BranchPointId to_id, flow::Label site,
              flow::BranchPointId from_id);

    Symbolizer* symbolizer_ = nullptr;
    const symbols::AddressSpaceVersion* space_ = nullptr;
    const flow::CodePoints* points_ = nullptr;
    std::vector<FunctionId>* functions_ = nullptr;
    std::vector<SiteId>* sites_ = nullptr;
  };
  // Returns the names for the labels of the current numbering. Valid until the next non-const call.
  [[nodiscard]] Labels labels(const symbols::AddressSpaceVersion& space,
                              const flow::CodePoints& points);

  // Returns the call site at a process address, an index into sites().
  [[nodiscard]] SiteId site(const symbols::AddressSpaceVersion& space, std::uint64_t address);
  // Returns the call site whose call returns to the process address; none where there is none.
  [[nodiscard]] SiteId site_before(const symbols::AddressSpaceVersion& space,
                                   std::uint64_t return_address);

  // Returns the function that represents signal handling: what the kernel runs between the
  // interrupted code and a handler.
  [[nodiscard]] FunctionId signal();
  // Returns the function that represents all code that an address filter leaves out.
  [[nodiscard]] FunctionId outside_filter();

  // Returns true for setjmp and its like: control may come back to the return address later.
  [[nodiscard]] bool returns_twice(FunctionId function) const {
    return returns_twice_[function] != 0;
  }

  // Returns what the function does with goroutines.
  [[nodiscard]] GoRole go_role(FunctionId function) const { return go_roles_[function]; }
  // Returns true for code of a binary in which threads go from one goroutine to another.
  [[nodiscard]] bool has_goroutines(FunctionId function) const {
    return go_roles_[function] != GoRole::none;
  }

  // Returns the number of a function, an index into functions(), by its index in the binary. `path`
  // names the binary.
  [[nodiscard]] FunctionId function(const symbols::Binary& binary, const std::string& path,
                                    std::uint32_t index);

  // Returns the number of a function whose name is known from elsewhere, by binary and address.
  [[nodiscard]] FunctionId named(const FunctionInfo& function);

  [[nodiscard]] Functions& functions() { return functions_; }
  [[nodiscard]] const Functions& functions() const { return functions_; }
  [[nodiscard]] CallSites& sites() { return sites_; }

private:
  [[nodiscard]] CodeLocation look_up(const symbols::AddressSpaceVersion& space,
                                     std::uint64_t address);
  [[nodiscard]] FunctionId stand_in(const std::string& name, const std::string& binary);
  FunctionId add(FunctionInfo function, bool returns_twice, GoRole go_role);

  Functions functions_;
  IdVector<FunctionId, std::uint8_t> returns_twice_;
  IdVector<FunctionId, GoRole> go_roles_;
  CallSites sites_;
  struct OfBinary {
    std::vector<FunctionId> functions; // by index in the binary; none until it is known
    flow::AddressMap<SiteId> sites;    // by ELF address
  };
  std::unordered_map<const symbols::Binary*, OfBinary> of_binary_; // nullptr: of no binary
  std::map<std::pair<std::string, std::string>, FunctionId> stand_ins_;
  std::map<std::pair<std::string, std::uint64_t>, FunctionId> named_; // by binary and address
  struct Numbered {                                                   // what is known of an id
    CodeLocation to;
    FunctionId from = FunctionId::none;
    SiteId site = SiteId::none;
  };
  static_assert(sizeof(Numbered) == 16);
  struct Known { // what is known of a version of an address space
    flow::AddressMap<CodeLocation> locations;
    flow::AddressMap<SiteId> sites;
    std::deque<std::vector<Numbered>> numbered; // by numbering, then by BranchPointId
    // Functions and sites, by numbering, then by label.
    std::deque<std::pair<std::vector<FunctionId>, std::vector<SiteId>>> labels;
  };
  [[nodiscard]] Known& known_in(const symbols::AddressSpaceVersion& space) {
    if (recent_ == nullptr || recent_serial_ != space.serial) {
      recent_ = &known_[space.serial];
      recent_serial_ = space.serial;
    }
    return *recent_;
  }
  [[nodiscard]] Numbered& numbered(const symbols::AddressSpaceVersion& space,
                                   flow::BranchPointId id) {
    if (numbered_ == nullptr || numbered_serial_ != space.serial ||
        index_of(id) >= numbered_->size()) {
      return add_numbered(space, index_of(id));
    }
    return (*numbered_)[index_of(id)];
  }
  Numbered& add_numbered(const symbols::AddressSpaceVersion& space, std::uint32_t index);
  std::unordered_map<std::uint64_t, Known> known_; // by serial of the version
  std::uint32_t numbering_ = 0;
  std::vector<Numbered>* numbered_ = nullptr; // of that numbering, in the last space
  std::uint64_t numbered_serial_ = 0;
  Known* recent_ = nullptr;
  std::uint64_t recent_serial_ = 0;
};

} // namespace ptlens::stacks
