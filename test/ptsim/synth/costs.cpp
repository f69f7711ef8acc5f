// Knuth's algorithm: blocks leave the queue in order of their final cost, and each then lowers
// those that lead to it. A call waits for both its callee and what follows it.
#include "synth/code_graph.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace ptlens::ptsim::synth {
namespace {

class Costs {
public:
  Costs(std::span<Block> blocks, std::uint32_t indirect_cost, std::uint32_t system_call_cost)
      : blocks_(blocks), indirect_cost_(indirect_cost), system_call_cost_(system_call_cost),
        final_(blocks.size(), false) {}

  void compute() {
    list_predecessors();
    for (BlockId id = 0; id < blocks_.size(); ++id) {
      blocks_[id].cost = no_exit;
      consider(id);
    }
    while (!queue_.empty()) {
      const auto [cost, id] = queue_.top();
      queue_.pop();
      if (final_[id] || cost != blocks_[id].cost) {
        continue;
      }
      final_[id] = true;
      for (std::uint32_t at = first_[id]; at < first_[id + 1]; ++at) {
        consider(predecessors_[at]);
      }
    }
    for (BlockId id = 0; id < blocks_.size(); ++id) {
      blocks_[id].cost = final_[id] ? blocks_[id].cost : no_exit;
    }
  }

private:
  template <class Visit>
  void each_edge(Visit visit) const {
    for (BlockId id = 0; id < blocks_.size(); ++id) {
      for (const BlockId to : {blocks_[id].next, blocks_[id].taken}) {
        if (to != no_block) {
          visit(id, to);
        }
      }
    }
  }

  void list_predecessors() {
    first_.assign(blocks_.size() + 1, 0);
    each_edge([this](BlockId, BlockId to) { ++first_[to + 1]; });
    for (std::size_t id = 0; id < blocks_.size(); ++id) {
      first_[id + 1] += first_[id];
    }
    predecessors_.resize(first_.back());
    std::vector<std::uint32_t> filled(first_.begin(), first_.end() - 1);
    each_edge([&](BlockId from, BlockId to) { predecessors_[filled[to]++] = from; });
  }

  [[nodiscard]] std::uint64_t known(BlockId id) const {
    return id != no_block && final_[id] ? blocks_[id].cost : no_exit;
  }

  [[nodiscard]] std::uint64_t cost(const Block& block) const {
    switch (block.end) {
    case End::fall:
    case End::jump:
    case End::stub:
      return block.cycles + known(block.next);
    case End::system_call:
      return block.cycles + known(block.next) + system_call_cost_;
    case End::conditional:
      return block.cycles + std::min(known(block.next), known(block.taken));
    case End::call:
      return block.cycles + known(block.next) + known(block.taken);
    case End::indirect_call:
      return block.cycles + known(block.next) + indirect_cost_;
    case End::indirect_jump:
      return block.cycles + indirect_cost_;
    case End::ret:
      return block.cycles;
    case End::dead:
      return no_exit;
    }
    return no_exit;
  }

  void consider(BlockId id) {
    if (final_[id]) {
      return;
    }
    const std::uint64_t now = cost(blocks_[id]);
    if (now < blocks_[id].cost) {
      blocks_[id].cost = static_cast<std::uint32_t>(now);
      queue_.emplace(blocks_[id].cost, id);
    }
  }

  using Entry = std::pair<std::uint32_t, BlockId>;
  std::span<Block> blocks_;
  std::uint32_t indirect_cost_;
  std::uint32_t system_call_cost_;
  std::vector<bool> final_;
  std::vector<std::uint32_t> first_; // of each block's predecessors
  std::vector<BlockId> predecessors_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

} // namespace

void compute_costs(std::span<Block> blocks, std::uint32_t indirect_cost,
                   std::uint32_t system_call_cost) {
  Costs(blocks, indirect_cost, system_call_cost).compute();
}

} // namespace ptlens::ptsim::synth
