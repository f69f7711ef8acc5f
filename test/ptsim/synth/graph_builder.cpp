// From the bytes of functions to blocks: a linear sweep over each part of a function finds its
// instructions, direct branches and what follows a branch begin blocks.
#include "code/instruction.hpp"
#include "synth/code_graph.hpp"
#include "synth/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>

namespace ptlens::ptsim::synth {
namespace {

constexpr std::uint32_t largest_function = 1 << 20; // bytes
constexpr std::size_t most_parts = 8;
// The highest cost of a cheap function. An indirect call costs more, so the cheapest path out of a
// cheap function contains none.
constexpr std::uint32_t cheap_cost = 24;
constexpr std::size_t fewest_cheap = 4;

struct Decoded {
  std::uint32_t address = 0;
  Instruction instruction;
};

struct Part { // of a function
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

bool is_cold(std::string_view name) {
  const std::size_t mark = name.rfind(".cold");
  return mark != std::string_view::npos && mark != 0 &&
         name.find_first_not_of("0123456789.", mark + 5) == std::string_view::npos;
}

// Parts that GCC cut out of a function to be called or jumped to: one function to some tools, two
// to others.
bool is_part(std::string_view name) {
  return name.find(".part.") != std::string_view::npos;
}

std::vector<Decoded> sweep(const ElfCode& elf, Part part) {
  std::vector<Decoded> instructions;
  const std::span<const std::byte> bytes = elf.code_at(part.begin);
  const std::size_t size = std::min<std::size_t>(part.end - part.begin, bytes.size());
  for (std::size_t at = 0; at < size;) {
    const auto instruction = decode_instruction(bytes.subspan(at, size - at));
    if (!instruction) {
      break;
    }
    instructions.push_back({part.begin + static_cast<std::uint32_t>(at), *instruction});
    at += instruction->length;
  }
  return instructions;
}

std::uint32_t target_of(const Decoded& decoded) {
  return static_cast<std::uint32_t>(decoded.address + decoded.instruction.length +
                                    decoded.instruction.displacement);
}

bool is_direct(FlowKind flow) {
  return flow == FlowKind::conditional || flow == FlowKind::jump || flow == FlowKind::call;
}

// Where blocks begin: behind each branch, and where direct branches go.
class BlockStarts {
public:
  explicit BlockStarts(const std::vector<std::vector<Decoded>>& parts) {
    for (const std::vector<Decoded>& part : parts) {
      if (part.empty()) {
        continue;
      }
      Marks marks{part.front().address, {}};
      marks.of_byte.resize(part.back().address + 1 - marks.begin, none);
      bool after_branch = true;
      for (const Decoded& decoded : part) {
        marks.of_byte[decoded.address - marks.begin] = after_branch ? block : instruction;
        after_branch = decoded.instruction.flow != FlowKind::none;
      }
      parts_.push_back(std::move(marks));
    }
    for (const std::vector<Decoded>& part : parts) {
      for (const Decoded& decoded : part) {
        if (is_direct(decoded.instruction.flow)) {
          mark(target_of(decoded));
        }
      }
    }
  }

  [[nodiscard]] bool at(std::uint32_t address) const {
    return std::ranges::any_of(parts_, [address](const Marks& part) {
      return part.holds(address) && part.of_byte[address - part.begin] == block;
    });
  }

private:
  enum Mark : std::uint8_t { none, instruction, block };
  struct Marks {
    std::uint32_t begin = 0;
    std::vector<std::uint8_t> of_byte;
    [[nodiscard]] bool holds(std::uint32_t address) const {
      return address >= begin && address - begin < of_byte.size();
    }
  };

  void mark(std::uint32_t address) {
    for (Marks& part : parts_) {
      if (part.holds(address) && part.of_byte[address - part.begin] == instruction) {
        part.of_byte[address - part.begin] = block;
      }
    }
  }

  std::vector<Marks> parts_;
};

} // namespace

class GraphBuilder {
public:
  explicit GraphBuilder(CodeGraph& graph) : graph_(&graph), random_(1) {}

  void build(std::size_t functions);

private:
  struct Link { // an edge to another function, to be set when all are built
    BlockId from = no_block;
    FunctionId to = no_function;
    bool taken = false;
  };
  struct Candidate {
    std::uint32_t binary = 0;
    std::size_t symbol = 0;
  };

  [[nodiscard]] const ElfCode& elf(std::uint32_t binary) const { return graph_->binaries_[binary]; }
  [[nodiscard]] bool stands_alone(std::uint32_t binary, std::size_t symbol) const;
  std::vector<Candidate> candidates();
  FunctionId declare(std::uint32_t binary, std::size_t symbol);
  std::optional<FunctionId> callee(std::uint32_t binary, std::uint32_t address);
  std::optional<FunctionId> stub(std::uint32_t binary, std::uint32_t address);
  std::optional<Part> cold_part(std::uint32_t binary, FunctionId owner, std::uint32_t address);
  void build_function(FunctionId id);
  void make_blocks(FunctionId id, const std::vector<std::vector<Decoded>>& parts);
  void end_block(BlockId self, const Decoded& last, std::uint32_t binary);
  void link(BlockId from, std::uint32_t target, bool taken, std::uint32_t binary,
            bool call_of_entry);
  void resolve_links();
  void list_islands();
  void list_usable();

  CodeGraph* graph_;
  Random random_;
  std::vector<std::map<std::uint32_t, FunctionId>> known_; // by binary, by address
  std::vector<std::map<std::uint32_t, FunctionId>> cold_owners_;
  std::deque<FunctionId> wanted_;
  std::vector<Link> links_;
  std::unordered_map<std::uint32_t, BlockId> blocks_at_; // of the function being built
};

// A function of its own: no other symbol inside it.
bool GraphBuilder::stands_alone(std::uint32_t binary, std::size_t symbol) const {
  const auto symbols = elf(binary).symbols();
  const CodeSymbol& it = symbols[symbol];
  if (!it.function || it.size > largest_function || is_cold(it.name) || is_part(it.name) ||
      it.name.starts_with("_dl_runtime_resolve") || elf(binary).is_stub(it.address)) {
    return false;
  }
  if (symbol + 1 < symbols.size() && symbols[symbol + 1].address < it.address + it.size) {
    return false;
  }
  constexpr std::size_t symbols_to_look_back = 4;
  for (std::size_t back = 1; back <= std::min(symbol, symbols_to_look_back); ++back) {
    const CodeSymbol& before = symbols[symbol - back];
    if (before.address + before.size > it.address) {
      return false;
    }
  }
  return true;
}

std::vector<GraphBuilder::Candidate> GraphBuilder::candidates() {
  std::vector<Candidate> all;
  for (std::uint32_t binary = 0; binary < graph_->binaries_.size(); ++binary) {
    for (std::size_t symbol = 0; symbol < elf(binary).symbols().size(); ++symbol) {
      if (stands_alone(binary, symbol)) {
        all.push_back({binary, symbol});
      }
    }
  }
  for (std::size_t left = all.size(); left > 1; --left) {
    std::swap(all[left - 1], all[random_.below(left)]);
  }
  return all;
}

FunctionId GraphBuilder::declare(std::uint32_t binary, std::size_t symbol) {
  const CodeSymbol& of = elf(binary).symbols()[symbol];
  const auto [known, added] =
      known_[binary].try_emplace(of.address, static_cast<FunctionId>(graph_->functions_.size()));
  if (added) {
    FunctionNode node;
    node.binary = binary;
    node.address = of.address;
    node.size = of.size;
    node.name = of.name;
    graph_->functions_.push_back(std::move(node));
    wanted_.push_back(known->second);
  }
  return known->second;
}

// The function whose entry is the address, a stub for one included.
std::optional<FunctionId> GraphBuilder::callee(std::uint32_t binary, std::uint32_t address) {
  if (elf(binary).is_stub(address)) {
    return stub(binary, address);
  }
  const auto symbol = elf(binary).symbol_at(address);
  if (!symbol || !stands_alone(binary, *symbol)) {
    return std::nullopt;
  }
  return declare(binary, *symbol);
}

// endbr64, then jmp *SLOT(%rip), each where the linker wants it, with a bnd prefix or without.
std::optional<FunctionId> GraphBuilder::stub(std::uint32_t binary, std::uint32_t address) {
  const auto known = known_[binary].find(address);
  if (known != known_[binary].end()) {
    return known->second;
  }
  std::vector<Decoded> code;
  constexpr std::uint32_t longest_stub = 16;
  for (const Decoded& decoded : sweep(elf(binary), {address, address + longest_stub})) {
    code.push_back(decoded);
    if (decoded.instruction.flow != FlowKind::none) {
      break;
    }
  }
  if (code.empty() || code.size() > 2 || code.back().instruction.flow != FlowKind::indirect_jump) {
    return std::nullopt;
  }
  const Decoded& jump = code.back();
  std::span<const std::byte> bytes =
      elf(binary).code_at(jump.address).first(jump.instruction.length);
  constexpr std::size_t jump_size = 6;
  bytes = bytes.size() > jump_size ? bytes.subspan(bytes.size() - jump_size) : bytes;
  if (bytes.size() != jump_size || bytes[0] != std::byte{0xff} || bytes[1] != std::byte{0x25}) {
    return std::nullopt;
  }
  std::int32_t offset = 0;
  std::memcpy(&offset, bytes.data() + 2, sizeof offset);
  const auto slot = static_cast<std::uint32_t>(jump.address + jump.instruction.length + offset);
  const std::string_view name = elf(binary).name_of_slot(slot);
  for (std::uint32_t other = 0; !name.empty() && other < graph_->binaries_.size(); ++other) {
    const auto target = elf(other).exported(name);
    if (!target) {
      continue;
    }
    const auto to = callee(other, *target);
    if (!to || graph_->functions_[*to].stub) {
      return std::nullopt;
    }
    const auto id = static_cast<FunctionId>(graph_->functions_.size());
    known_[binary].emplace(address, id);
    FunctionNode node;
    node.binary = binary;
    node.address = address;
    node.size = jump.address + jump.instruction.length - address;
    node.name = std::string(name) + "@plt";
    node.stub = true;
    node.first = static_cast<BlockId>(graph_->blocks_.size());
    node.blocks = 1;
    graph_->functions_.push_back(std::move(node));
    Block block;
    block.begin = address;
    block.last = jump.address;
    block.last_size = jump.instruction.length;
    block.function = id;
    block.cycles = static_cast<std::uint16_t>(code.size() + 1);
    block.end = End::stub;
    links_.push_back({static_cast<BlockId>(graph_->blocks_.size()), *to, false});
    graph_->blocks_.push_back(block);
    return id;
  }
  return std::nullopt;
}

// The cold part that holds the address, where it is the owner's and no other function's.
std::optional<Part> GraphBuilder::cold_part(std::uint32_t binary, FunctionId owner,
                                            std::uint32_t address) {
  const auto symbol = elf(binary).symbol_before(address);
  if (!symbol) {
    return std::nullopt;
  }
  const CodeSymbol& cold = elf(binary).symbols()[*symbol];
  const FunctionNode& function = graph_->functions_[owner];
  if (!cold.function || !is_cold(cold.name) || address - cold.address >= cold.size ||
      cold.alias_count != 1 ||
      std::string_view(cold.name).substr(0, cold.name.rfind(".cold")) != function.name) {
    return std::nullopt;
  }
  const auto [known, added] = cold_owners_[binary].try_emplace(cold.address, owner);
  return known->second == owner ? std::optional(Part{cold.address, cold.address + cold.size})
                                : std::nullopt;
}

void GraphBuilder::build_function(FunctionId id) {
  const std::uint32_t binary = graph_->functions_[id].binary;
  std::vector<Part> parts{{graph_->functions_[id].address,
                           graph_->functions_[id].address + graph_->functions_[id].size}};
  std::vector<std::vector<Decoded>> code;
  while (code.size() < parts.size()) {
    code.push_back(sweep(elf(binary), parts[code.size()]));
    for (const Decoded& decoded : code.back()) {
      if (!is_direct(decoded.instruction.flow) || decoded.instruction.flow == FlowKind::call) {
        continue;
      }
      const std::uint32_t target = target_of(decoded);
      const bool inside = std::ranges::any_of(
          parts, [target](const Part& part) { return target >= part.begin && target < part.end; });
      const auto cold = inside ? std::nullopt : cold_part(binary, id, target);
      if (cold && parts.size() < most_parts) {
        parts.push_back(*cold);
      }
    }
  }
  make_blocks(id, code);
}

void GraphBuilder::make_blocks(FunctionId id, const std::vector<std::vector<Decoded>>& parts) {
  const std::uint32_t binary = graph_->functions_[id].binary;
  const BlockStarts starts(parts);
  const auto first = static_cast<BlockId>(graph_->blocks_.size());
  blocks_at_.clear();
  std::vector<Decoded> lasts;
  for (const std::vector<Decoded>& part : parts) {
    for (std::size_t at = 0; at < part.size();) {
      Block block;
      block.begin = part[at].address;
      block.function = id;
      bool common = true;
      std::uint32_t cycles = 0;
      do {
        cycles += part[at].instruction.cycles;
        common = common && part[at].instruction.common && !part[at].instruction.replaces_stack;
        ++at;
      } while (at < part.size() && !starts.at(part[at].address));
      const Decoded& last = part[at - 1];
      block.last = last.address;
      block.last_size = last.instruction.length;
      block.cycles = static_cast<std::uint16_t>(std::min<std::uint32_t>(cycles, UINT16_MAX));
      blocks_at_.emplace(block.begin, static_cast<BlockId>(graph_->blocks_.size()));
      lasts.push_back(last);
      lasts.back().instruction.common = common;
      graph_->blocks_.push_back(block);
    }
  }
  for (std::size_t at = 0; at < lasts.size(); ++at) {
    if (lasts[at].instruction.common) {
      end_block(first + static_cast<BlockId>(at), lasts[at], binary);
    }
  }
  graph_->functions_[id].first = lasts.empty() ? no_block : first;
  graph_->functions_[id].blocks = static_cast<std::uint32_t>(lasts.size());
}

void GraphBuilder::end_block(BlockId self, const Decoded& last, std::uint32_t binary) {
  Block& block = graph_->blocks_[self]; // until a link is made
  const auto here = [this](std::uint32_t address) {
    const auto found = blocks_at_.find(address);
    return found == blocks_at_.end() ? no_block : found->second;
  };
  const std::uint32_t behind = block.behind();
  const std::uint32_t target = is_direct(last.instruction.flow) ? target_of(last) : 0;
  switch (last.instruction.flow) {
  case FlowKind::none:
    block.end = End::fall;
    block.next = here(behind);
    return;
  case FlowKind::conditional:
    block.end = End::conditional;
    block.next = here(behind);
    block.taken = here(target);
    if (block.taken == no_block) {
      link(self, target, true, binary, false);
    }
    return;
  case FlowKind::jump:
    block.end = End::jump;
    block.next = here(target);
    if (block.next == no_block) {
      link(self, target, false, binary, false);
    }
    return;
  case FlowKind::call:
    block.end = last.instruction.to_next ? End::jump : End::call;
    block.call_of_next = last.instruction.to_next;
    block.next = here(behind);
    if (!last.instruction.to_next) {
      link(self, target, true, binary, true);
    }
    return;
  case FlowKind::indirect_call:
    block.end = End::indirect_call;
    block.next = here(behind);
    return;
  case FlowKind::indirect_jump:
    block.end = End::indirect_jump;
    return;
  case FlowKind::ret:
    block.end = End::ret;
    return;
  case FlowKind::syscall:
    block.end = End::system_call;
    block.next = here(behind);
    return;
  case FlowKind::trap:
  case FlowKind::unsupported:
    return;
  }
}

// An edge to the entry of another function, or by a call to that of its own.
void GraphBuilder::link(BlockId from, std::uint32_t target, bool taken, std::uint32_t binary,
                        bool call_of_entry) {
  const FunctionId own = graph_->blocks_[from].function;
  const auto to = callee(binary, target);
  if (to && (*to != own || call_of_entry)) {
    links_.push_back({from, *to, taken});
  }
}

void GraphBuilder::resolve_links() {
  for (const Link& link : links_) {
    Block& from = graph_->blocks_[link.from];
    (link.taken ? from.taken : from.next) = graph_->functions_[link.to].first;
  }
}

void GraphBuilder::list_islands() {
  std::vector<bool> reached(graph_->blocks_.size(), false);
  for (const Block& block : graph_->blocks_) {
    for (const BlockId to : {block.next, block.taken}) {
      if (to != no_block) {
        reached[to] = true;
      }
    }
  }
  for (FunctionNode& function : graph_->functions_) {
    if (function.blocks == 0) {
      continue;
    }
    function.first_island = static_cast<std::uint32_t>(graph_->islands_.size());
    for (BlockId id = function.first + 1; id < function.first + function.blocks; ++id) {
      if (!reached[id] && graph_->can_be_walked(id)) {
        graph_->islands_.push_back(id);
      }
    }
    function.islands = static_cast<std::uint32_t>(graph_->islands_.size()) - function.first_island;
  }
}

void GraphBuilder::list_usable() {
  for (FunctionId id = 0; id < graph_->functions_.size(); ++id) {
    const FunctionNode& function = graph_->functions_[id];
    if (function.stub || !graph_->can_be_walked(function.first) ||
        graph_->is_loud(function.first)) {
      continue;
    }
    graph_->usable_.push_back(id);
    if (graph_->blocks_[function.first].cost <= cheap_cost) {
      graph_->cheap_.push_back(id);
    }
  }
}

void GraphBuilder::build(std::size_t functions) {
  known_.resize(graph_->binaries_.size());
  cold_owners_.resize(graph_->binaries_.size());
  const std::vector<Candidate> all = candidates();
  std::size_t built = 0;
  std::size_t next = 0;
  while (built < functions) {
    if (wanted_.empty()) {
      if (next == all.size()) {
        break;
      }
      declare(all[next].binary, all[next].symbol);
      ++next;
      continue;
    }
    const FunctionId id = wanted_.front();
    wanted_.pop_front();
    build_function(id);
    ++built;
  }
  resolve_links();
  compute_costs(graph_->blocks_, cheap_cost + 1, graph_->quiet_ ? shunned_cost : 0);
  list_islands();
  list_usable();
}

Result<CodeGraph> CodeGraph::read(const std::vector<std::string>& files, std::size_t functions,
                                  bool quiet) {
  CodeGraph graph;
  graph.quiet_ = quiet;
  for (const std::string& file : files) {
    auto elf = ElfCode::read(file);
    if (!elf) {
      return std::unexpected(elf.error());
    }
    graph.binaries_.push_back(std::move(*elf));
  }
  GraphBuilder(graph).build(functions);
  if (graph.cheap_.size() < fewest_cheap) {
    return std::unexpected(
        Error{.kind = Error::Kind::bad_input,
              .message = fmt::format("{} of {} functions can be walked, too few",
                                     graph.usable_.size(), graph.functions_.size()),
              .file = files.empty() ? "" : files.front(),
              .remedy = "name more binaries, with symbols, or more --functions"});
  }
  return graph;
}

std::optional<std::uint32_t> CodeGraph::find_signal_return(std::size_t binary) const {
  constexpr std::array<unsigned char, 9> code{0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
  for (const CodeSegment& segment : binaries_[binary].segments()) {
    const std::span<const std::byte> bytes = binaries_[binary].code_at(segment.address);
    const auto found = std::ranges::search(bytes, std::as_bytes(std::span(code)));
    if (!found.empty()) {
      return segment.address + static_cast<std::uint32_t>(found.begin() - bytes.begin());
    }
  }
  return std::nullopt;
}

std::vector<std::uint32_t> CodeGraph::instructions(const Block& block) const {
  std::vector<std::uint32_t> addresses;
  const ElfCode& elf = binaries_[functions_[block.function].binary];
  for (const Decoded& decoded : sweep(elf, {block.begin, block.behind()})) {
    addresses.push_back(decoded.address);
  }
  return addresses;
}

} // namespace ptlens::ptsim::synth
