// Code as a graph of decisions. A node is the straight way from an address to the next instruction
// whose outcome the trace tells: a conditional branch, an indirect transfer, a return; direct jumps
// and calls on the way are folded into it. A bit of a TNT packet is then one step along an edge.
// Built where the trace leads, and kept. Ways are small and lie together, since following a trace
// is bound by what the processor's caches hold of them.
#pragma once

#include "flow/address_map.hpp"
#include "flow/branch.hpp"
#include "flow/code_image.hpp"

#include <cstdint>
#include <vector>

namespace ptlens::flow {

// Index of a way in its graph.
using WayIndex = std::uint32_t;
inline constexpr WayIndex no_way = 0; // where no code is known, or an edge not yet followed

// An address that a call returns to, and the way that begins there, no_way until it is known.
struct ReturnPoint {
  std::uint64_t address = 0;
  WayIndex way = no_way;
};

struct Way { // 32 bytes
  enum class End : std::uint8_t {
    conditional,
    ret,
    call,    // indirect
    jump,    // indirect
    system,  // a system call
    unclear, // far, unknown or too far to see: to be followed instruction by instruction
  };

  std::uint64_t begin = 0;
  std::uint64_t end_address = 0; // of the instruction that decides
  WayIndex taken = no_way;       // of a conditional branch; of an indirect transfer: last target
  // Of a conditional branch; of an indirect call: behind it; of a jump or return: the target before
  // the last.
  WayIndex not_taken = no_way;
  std::uint32_t first_step = 0;
  std::uint16_t instructions = 0; // the one that decides included
  std::uint8_t step_count : 7 = 0;
  std::uint8_t untold : 1 = 0; // of a conditional branch: it is none of those that are told
  std::uint8_t end : 3 = static_cast<std::uint8_t>(End::unclear);
  std::uint8_t calls : 1 = 0;    // one of the steps returns
  std::uint8_t end_size : 4 = 0; // bytes of the instruction that decides

  [[nodiscard]] bool ends_with(End which) const { return end == static_cast<std::uint8_t>(which); }
  [[nodiscard]] std::uint64_t address_behind() const { return end_address + end_size; }
};
static_assert(sizeof(Way) == 32);

struct Step { // a direct call or jump on a way, that is told
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  WayIndex behind = no_way; // where a call returns to, no_way until it is known
  BranchKind kind = BranchKind::jump;
  std::uint8_t from_size = 0;
  bool returns = false; // a call that is not to the next instruction
};

// Which branches are told.
enum class Detail : std::uint8_t {
  branches, // all that were taken
  calls,    // not direct ones inside a function, but for the last conditional one before a break
};

class CodeGraph {
public:
  // The image must outlive the graph.
  CodeGraph(CodeImage& image, Detail detail) : image_(&image), detail_(detail) {}

  [[nodiscard]] CodeImage& image() const { return *image_; }
  [[nodiscard]] Detail detail() const { return detail_; }

  // The way that begins at the process address; no_way where no code is known there.
  [[nodiscard]] WayIndex at(std::uint64_t address) {
    const auto found = by_address_.find(address);
    return found != by_address_.end() ? found->second : explore(address);
  }

  // These stand until a way is added: by at(), take() and behind().
  [[nodiscard]] const Way& operator[](WayIndex way) const { return ways_[way]; }
  [[nodiscard]] const Step& step(std::uint32_t number) const { return steps_[number]; }
  [[nodiscard]] const Way* ways() const { return ways_.data(); }

  // Numbers as branches bear them: of where a step comes from and goes to, and of where a way ends
  // and begins.
  [[nodiscard]] static std::uint32_t number_of_step(std::uint32_t step) { return 2 * step + 1; }
  [[nodiscard]] static std::uint32_t number_of_way(WayIndex way) { return 2 * way; }

  // Where the conditional branch leads; no_way where no code is known there.
  [[nodiscard]] WayIndex take(WayIndex way, bool taken) {
    const WayIndex edge = taken ? ways_[way].taken : ways_[way].not_taken;
    return edge != no_way ? edge : find_edge(way, taken);
  }
  // The same of an indirect transfer that went to the address.
  [[nodiscard]] WayIndex go(WayIndex way, std::uint64_t to) {
    const Way& from = ways_[way];
    if (ways_[from.taken].begin == to && from.taken != no_way) {
      return from.taken;
    }
    const bool has_other = !from.ends_with(Way::End::call) && from.not_taken != no_way;
    return has_other && ways_[from.not_taken].begin == to ? from.not_taken : find_target(way, to);
  }
  // Where an indirect call returns to, and where the direct one of that number does.
  [[nodiscard]] ReturnPoint behind(WayIndex way) {
    if (ways_[way].not_taken == no_way) {
      const WayIndex found = at(ways_[way].address_behind());
      ways_[way].not_taken = found;
    }
    return {ways_[way].address_behind(), ways_[way].not_taken};
  }
  [[nodiscard]] ReturnPoint behind_step(std::uint32_t step) {
    const std::uint64_t address = steps_[step].from + steps_[step].from_size;
    if (steps_[step].behind == no_way) {
      const WayIndex found = at(address);
      steps_[step].behind = found;
    }
    return {address, steps_[step].behind};
  }

private:
  WayIndex explore(std::uint64_t address);
  Way follow(std::uint64_t address);
  WayIndex find_edge(WayIndex way, bool taken);
  WayIndex find_target(WayIndex way, std::uint64_t to);

  CodeImage* image_;
  Detail detail_;
  std::vector<Way> ways_{1};   // the first is no_way
  std::vector<Step> steps_{1}; // so that the first has an exit too
  AddressMap<WayIndex> by_address_;
  AddressMap<WayIndex> targets_; // of those, what indirect transfers went to: few, so quickly found
};

} // namespace ptlens::flow
