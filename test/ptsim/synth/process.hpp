// The process that is walked: the graph's binaries at made-up places, as the loader might have put
// them.
#pragma once

#include "code/mappings.hpp"
#include "synth/code_graph.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptlens::ptsim::synth {

class Process {
public:
  Process(const CodeGraph& graph, std::uint64_t seed);

  [[nodiscard]] const CodeGraph& graph() const { return *graph_; }

  // Process addresses.
  [[nodiscard]] std::uint64_t begin(const Block& block) const {
    return base_of(block) + block.begin;
  }
  [[nodiscard]] std::uint64_t last(const Block& block) const { return base_of(block) + block.last; }
  [[nodiscard]] std::uint64_t behind(const Block& block) const {
    return base_of(block) + block.behind();
  }
  [[nodiscard]] std::uint64_t entry(FunctionId id) const {
    return bases_of_functions_[id] + graph_->function(id).address;
  }
  // Process address of `mov $15,%eax; syscall`, which returns from a signal handler; nothing where
  // no binary has it. The system call is signal_return_size bytes behind.
  [[nodiscard]] std::optional<std::uint64_t> signal_return() const { return signal_return_; }
  static constexpr std::uint64_t signal_return_size = 7;

  // By address, executable ones only.
  [[nodiscard]] const std::vector<Mapping>& mappings() const { return mappings_; }
  // Of the binary that the mapping shows.
  [[nodiscard]] const ElfCode& binary(const Mapping& mapping) const;

private:
  [[nodiscard]] std::uint64_t base_of(const Block& block) const {
    return bases_of_functions_[block.function];
  }

  const CodeGraph* graph_;
  std::vector<std::uint64_t> bases_of_functions_; // process address - ELF address
  std::vector<Mapping> mappings_;
  std::optional<std::uint64_t> signal_return_;
};

} // namespace ptlens::ptsim::synth
