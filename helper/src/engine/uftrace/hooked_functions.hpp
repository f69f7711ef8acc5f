// The functions of a uftrace recording: an address that a hook recorded → a function.
#pragma once

#include "engine/recording/loaded_recording.hpp"
#include "flow/code/address_map.hpp"
#include "stacks/transfer/symbolizer.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

namespace ptlens::engine {

struct HookedFunction {
  stacks::FunctionId function = stacks::FunctionId::none;
  bool part = false;          // a part of the function: no call of its own
  bool returns_twice = false; // setjmp and its like
  bool stub = false;          // called through the PLT
};

class HookedFunctions {
public:
  // The recording must outlive the object.
  explicit HookedFunctions(const LoadedRecording& loaded) : loaded_(&loaded) {}

  // Returns the function at an address of a process. A call through the PLT is a call of the
  // function that the dynamic linker would bind. Without the binary, uftrace's own symbols give the
  // name.
  [[nodiscard]] HookedFunction find(const symbols::AddressSpaceVersion& space,
                                    std::uint64_t address) {
    if (recent_ == nullptr || serial_ != space.serial) {
      recent_ = &known_[space.serial];
      serial_ = space.serial;
    }
    const auto found = recent_->find(address);
    return found != recent_->end()
               ? found->second
               : recent_->emplace(address, look_up(space, address)).first->second;
  }

  // The paths of the binaries in which functions were looked up.
  [[nodiscard]] const std::set<std::string>& binaries() const { return binaries_; }
  [[nodiscard]] stacks::Symbolizer& symbolizer() { return symbolizer_; }

private:
  [[nodiscard]] HookedFunction look_up(const symbols::AddressSpaceVersion& space,
                                       std::uint64_t address);
  [[nodiscard]] stacks::FunctionId bound(const symbols::AddressSpaceVersion& space,
                                         const symbols::MappedCode& mapped, std::uint64_t address);
  [[nodiscard]] stacks::FunctionId from_uftrace(const symbols::MappedCode& mapped,
                                                std::uint64_t address);

  const LoadedRecording* loaded_;
  stacks::Symbolizer symbolizer_;
  std::unordered_map<std::uint64_t, flow::AddressMap<HookedFunction>> known_; // by serial
  flow::AddressMap<HookedFunction>* recent_ = nullptr;
  std::uint64_t serial_ = 0;
  std::map<std::string, uftrace::SymbolFile> symbol_files_; // by path of the module
  std::set<std::string> binaries_;
};

} // namespace ptlens::engine
