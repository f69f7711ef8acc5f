// Process addresses to functions and call sites, each named once for the whole recording.
#pragma once

#include "flow/address_map.hpp"
#include "stacks/call.hpp"
#include "symbols/address_space.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ptlens::stacks {

// What stands at an address.
struct Place {
  std::uint32_t function = no_call; // index into functions(); always valid after resolve()
  bool entry = false;  // the address is the first of the function, or of a copy or part
  bool part = false;   // in a part of the function: its own code goes on there
  bool folded = false; // PLT stub, lazy-binding resolver or retpoline: not a call of its own
  bool thunk = false;  // of these, a retpoline or return thunk: leads back as well as on
  bool known = false;  // a symbol covers it
};

class Resolver {
public:
  // An address that no function covers resolves to one stand-in per binary, "[no symbol]", or
  // "[missing code]" where the binary is not there, or "[unknown]" where nothing is mapped.
  [[nodiscard]] Place resolve(const symbols::AddressSpaceVersion& space, std::uint64_t address);

  struct Callee {
    Place place;
    std::uint32_t site = no_site;
  };
  // What resolve() says of `to` and site() of `from`, the address of a call instruction. The site
  // is left out where `to` is not the entry of a function.
  [[nodiscard]] Callee callee(const symbols::AddressSpaceVersion& space, std::uint64_t from,
                              std::uint64_t to);

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
  std::map<std::pair<const symbols::Binary*, std::uint32_t>, std::uint32_t> by_index_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> stand_ins_;
  std::map<std::pair<const symbols::Binary*, std::uint64_t>, std::uint32_t> site_of_;
  // By version of the address space, then by address.
  struct Known {
    flow::AddressMap<Place> places;
    flow::AddressMap<std::uint32_t> sites;
  };
  [[nodiscard]] Known& known_in(const symbols::AddressSpaceVersion& space) {
    if (recent_ == nullptr || recent_serial_ != space.serial) {
      recent_ = &known_[space.serial];
      recent_serial_ = space.serial;
    }
    return *recent_;
  }
  struct RecentCall {
    std::uint64_t serial = UINT64_MAX; // of the space
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    Callee callee;
  };
  static constexpr std::size_t recent_calls = std::size_t{1} << 14U;
  std::vector<RecentCall> recent_calls_{recent_calls}; // by a hash of `from`
  std::unordered_map<std::uint64_t, Known> known_;
  Known* recent_ = nullptr;
  std::uint64_t recent_serial_ = 0;
};

} // namespace ptlens::stacks
