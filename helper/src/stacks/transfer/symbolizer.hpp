// Process addresses to functions and call sites, each named once for the whole recording.
#pragma once

#include "flow/branches/branch.hpp"
#include "flow/code/address_map.hpp"
#include "flow/returned_call.hpp"
#include "stacks/calls/call.hpp"
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

// What stands at an address.
struct Place {
  std::uint32_t function = no_call; // index into functions(); always valid after resolve()
  bool entry : 1 = false;  // the address is the first of the function, or of a copy or part
  bool part : 1 = false;   // in a part of the function: its own code goes on there
  bool folded : 1 = false; // PLT stub, lazy-binding symbolizer or retpoline: not a call of its own
  bool thunk : 1 = false;  // of these, a retpoline or return thunk: leads back as well as on
  bool known : 1 = false;  // a symbol covers it
};

class Symbolizer {
public:
  // An address that no function covers resolves to one stand-in per binary, "[no symbol]", or
  // "[missing code]" where the binary is not there, or "[unknown]" where nothing is mapped.
  [[nodiscard]] Place resolve(const symbols::AddressSpaceVersion& space, std::uint64_t address);

  [[nodiscard]] std::uint32_t numbering() const { return numbering_; }
  // Branches that are asked about from here on bear numbers of that numbering; see flow::Run.
  void set_numbering(std::uint32_t numbering) {
    if (numbering != numbering_) {
      numbering_ = numbering;
      numbered_ = nullptr;
    }
  }

  // Asks for what will be asked about a branch that is still to come, as long as it is of the space
  // that was asked about last.
  void prefetch(const flow::Branch& branch) const {
    if (numbered_ != nullptr && branch.arrival < numbered_->size() &&
        branch.exit < numbered_->size()) {
      __builtin_prefetch(&(*numbered_)[branch.arrival]);
      __builtin_prefetch(&(*numbered_)[branch.exit]);
    }
  }

  // Where a branch goes to; its numbers, where it bears some, are of the space.
  [[nodiscard]] Place to(const symbols::AddressSpaceVersion& space, const flow::Branch& branch) {
    if (branch.arrival == 0) {
      return resolve(space, branch.to);
    }
    Numbered& known = numbered(space, branch.arrival);
    if (known.to.function == no_call) {
      known.to = resolve(space, branch.to);
    }
    return known.to;
  }
  // The function that a branch comes from.
  [[nodiscard]] std::uint32_t from(const symbols::AddressSpaceVersion& space,
                                   const flow::Branch& branch) {
    if (branch.exit == 0) {
      return resolve(space, branch.from).function;
    }
    Numbered& known = numbered(space, branch.exit);
    if (known.from == no_call) {
      known.from = resolve(space, branch.from).function;
    }
    return known.from;
  }
  // The call site that a branch comes from, index into sites().
  [[nodiscard]] std::uint32_t site(const symbols::AddressSpaceVersion& space,
                                   const flow::Branch& branch) {
    if (branch.exit == 0) {
      return site(space, branch.from);
    }
    Numbered& known = numbered(space, branch.exit);
    if (known.site == no_site) {
      known.site = site(space, branch.from);
    }
    return known.site;
  }

  // Functions and call sites of calls that came back, by the numbers that these bear in the
  // numbering set.
  class Returned {
  public:
    // To be asked before what follows about the call, and about those made in it.
    void learn(const flow::ReturnedCall& call) {
      if (call.target >= functions_->size() || (*functions_)[call.target] == no_call ||
          call.site >= sites_->size() || (*sites_)[call.site] == no_site) [[unlikely]] {
        find(call);
      }
    }
    [[nodiscard]] std::uint32_t function(std::uint32_t target) const {
      return (*functions_)[target];
    }
    [[nodiscard]] std::uint32_t site(std::uint32_t number) const { return (*sites_)[number]; }

  private:
    friend class Symbolizer;
    void find(const flow::ReturnedCall& call);

    Symbolizer* symbolizer_ = nullptr;
    const symbols::AddressSpaceVersion* space_ = nullptr;
    const flow::CodePoints* points_ = nullptr;
    std::vector<std::uint32_t>* functions_ = nullptr;
    std::vector<std::uint32_t>* sites_ = nullptr;
  };
  // Of calls in the space, whose points these are. For the moment.
  [[nodiscard]] Returned returned(const symbols::AddressSpaceVersion& space,
                                  const flow::CodePoints& points);

  // The call site at a process address, index into sites().
  [[nodiscard]] std::uint32_t site(const symbols::AddressSpaceVersion& space,
                                   std::uint64_t address);
  // The call site whose call returns to the process address; no_site where none does.
  [[nodiscard]] std::uint32_t site_before(const symbols::AddressSpaceVersion& space,
                                          std::uint64_t return_address);

  // The function that stands for signal handling: what the kernel runs between the interrupted code
  // and a handler.
  [[nodiscard]] std::uint32_t signal();
  // The function that stands for all code that an address filter leaves out.
  [[nodiscard]] std::uint32_t outside_filter();

  // setjmp and its like: control may come back to its return address later.
  [[nodiscard]] bool returns_twice(std::uint32_t function) const {
    return returns_twice_[function] != 0;
  }

  // The function of a binary by its index there, index into functions(). `path` names the binary.
  [[nodiscard]] std::uint32_t function(const symbols::Binary& binary, const std::string& path,
                                       std::uint32_t index);

  [[nodiscard]] std::vector<FunctionInfo>& functions() { return functions_; }
  [[nodiscard]] const std::vector<FunctionInfo>& functions() const { return functions_; }
  [[nodiscard]] std::vector<CallSite>& sites() { return sites_; }

private:
  [[nodiscard]] Place look_up(const symbols::AddressSpaceVersion& space, std::uint64_t address);
  [[nodiscard]] std::uint32_t stand_in(const std::string& name, const std::string& binary);
  std::uint32_t add(FunctionInfo function, bool returns_twice);

  std::vector<FunctionInfo> functions_;
  std::vector<std::uint8_t> returns_twice_; // by function
  std::vector<CallSite> sites_;
  struct OfBinary {
    std::vector<std::uint32_t> functions;  // by index there; no_call until it is known
    flow::AddressMap<std::uint32_t> sites; // by ELF address
  };
  std::unordered_map<const symbols::Binary*, OfBinary> of_binary_; // nullptr: of none
  std::map<std::pair<std::string, std::string>, std::uint32_t> stand_ins_;
  // By version of the address space, then by address.
  struct Numbered { // what is at an address that has a number
    Place to;
    std::uint32_t from = no_call;
    std::uint32_t site = no_site;
  };
  static_assert(sizeof(Numbered) == 16);
  struct Known {
    flow::AddressMap<Place> places;
    flow::AddressMap<std::uint32_t> sites;
    std::deque<std::vector<Numbered>> numbered; // by numbering; Branch::arrival, Branch::exit
    // The same of ReturnedCall::target and site.
    std::deque<std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>> returned;
  };
  [[nodiscard]] Known& known_in(const symbols::AddressSpaceVersion& space) {
    if (recent_ == nullptr || recent_serial_ != space.serial) {
      recent_ = &known_[space.serial];
      recent_serial_ = space.serial;
    }
    return *recent_;
  }
  [[nodiscard]] Numbered& numbered(const symbols::AddressSpaceVersion& space,
                                   std::uint32_t number) {
    if (numbered_ == nullptr || numbered_serial_ != space.serial || number >= numbered_->size()) {
      return add_numbered(space, number);
    }
    return (*numbered_)[number];
  }
  Numbered& add_numbered(const symbols::AddressSpaceVersion& space, std::uint32_t number);
  std::unordered_map<std::uint64_t, Known> known_;
  std::uint32_t numbering_ = 0;
  std::vector<Numbered>* numbered_ = nullptr; // of that numbering, in the space that was last asked
  std::uint64_t numbered_serial_ = 0;
  Known* recent_ = nullptr;
  std::uint64_t recent_serial_ = 0;
};

} // namespace ptlens::stacks
