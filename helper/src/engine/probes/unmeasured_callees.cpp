// Calls are found by disassembly. A PLT stub leads to the probed function of that name, if there is
// one.
#include "engine/probes/unmeasured_callees.hpp"

#include "symbols/binary.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace ptlens::engine {
namespace {

using symbols::Binary;
using symbols::Function;

bool never_returns(std::string_view name) {
  static constexpr std::array names = {"__assert_fail",
                                       "__chk_fail",
                                       "__clang_call_terminate",
                                       "__cxa_bad_cast",
                                       "__cxa_rethrow",
                                       "__cxa_throw",
                                       "__fortify_fail",
                                       "__stack_chk_fail",
                                       "_Unwind_Resume",
                                       "_ZSt9terminatev",
                                       "_exit",
                                       "abort",
                                       "exit"};
  return std::ranges::find(names, name) != names.end() ||
         (name.starts_with("_ZSt") && name.find("__throw_") != std::string_view::npos);
}

class Callees {
public:
  Callees(std::span<const record::Probe> probes,
          const std::vector<const symbols::MappedCode*>& binaries) {
    for (const symbols::MappedCode* const code : binaries) {
      if (code->binary) {
        binaries_.try_emplace(code->path, code->binary);
      }
    }
    for (const record::Probe& probe : probes) {
      if (probe.kind != record::Probe::Kind::entry ||
          !probed_.emplace(probe.binary, probe.function).second || probe.end_ns != 0) {
        continue;
      }
      measured_.emplace(probe.binary, probe.function);
      const Binary* const binary = binary_of(probe.binary);
      const auto index = binary == nullptr ? std::nullopt : binary->function_entry(probe.function);
      if (index) {
        names_.insert(binary->functions()[*index].linkage_name);
      }
    }
  }

  [[nodiscard]] bool is_probed(const stacks::FunctionInfo& function) const {
    return probed_.contains({function.binary, function.address});
  }

  [[nodiscard]] bool all_measured(const stacks::FunctionInfo& function) const {
    const Binary* const binary = binary_of(function.binary);
    const auto index = binary == nullptr ? std::nullopt : binary->function_entry(function.address);
    return index && !binary->calls_elsewhere(*index) &&
           std::ranges::all_of(binary->direct_callees(*index), [&](std::uint64_t address) {
             return is_measured(*binary, function.binary, address);
           });
  }

private:
  [[nodiscard]] const Binary* binary_of(const std::string& path) const {
    const auto found = binaries_.find(path);
    return found == binaries_.end() ? nullptr : found->second.get();
  }

  [[nodiscard]] bool is_measured(const Binary& binary, const std::string& path,
                                 std::uint64_t address) const {
    if (measured_.contains({path, address})) {
      return true;
    }
    const auto index = binary.function_entry(address);
    if (!index) {
      return false;
    }
    if (const auto target = binary.stub_target(*index)) {
      return never_returns(*target) || names_.contains(*target);
    }
    return never_returns(binary.functions()[*index].linkage_name);
  }

  std::map<std::string, std::shared_ptr<const Binary>> binaries_; // by path
  std::set<std::pair<std::string, std::uint64_t>> probed_;        // path, address
  std::set<std::pair<std::string, std::uint64_t>> measured_;      // those measured to the end
  std::set<std::string> names_;                                   // linkage names of these
};

} // namespace

std::vector<stacks::FunctionId>
with_unmeasured_callees(const stacks::Functions& functions, std::span<const record::Probe> probes,
                        const std::vector<const symbols::MappedCode*>& binaries) {
  const Callees callees(probes, binaries);
  std::vector<stacks::FunctionId> found;
  for (const stacks::FunctionId index : functions.ids()) {
    if (callees.is_probed(functions[index]) && !callees.all_measured(functions[index])) {
      found.push_back(index);
    }
  }
  return found;
}

} // namespace ptlens::engine
