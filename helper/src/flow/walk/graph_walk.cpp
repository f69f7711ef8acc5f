// Follows the graph of basic blocks by the loop of graph_walk.hpp.
#include "flow/walk/graph_walk.hpp"

namespace ptlens::flow {
namespace {

// Lists every branch in the run.
class ListingSink {
public:
  explicit ListingSink(const CodePoints& points) : points_(&points) {}

  void begin(RunBuilder& run) { run_ = &run; }
  [[gnu::always_inline]] void take_direct(DirectBranchId id, const DirectBranch& branch,
                                          const UncertainTime& time) {
    static_cast<void>(branch);
    add(points_->branch(id), time);
  }
  [[gnu::always_inline]] void take_conditional(BlockId block, BlockId reached,
                                               const UncertainTime& time) {
    add(points_->branch(block, BranchKind::cond, points_->blocks[index_of(reached)].begin, reached),
        time);
  }
  [[gnu::always_inline]] void take_return(BlockId block, std::uint64_t to, BlockId reached,
                                          const UncertainTime& time) {
    add(points_->branch(block, BranchKind::ret, to, reached), time);
  }
  [[gnu::always_inline]] void take_indirect(BlockId block, BranchKind kind,
                                            const CodeGraph::Target& target,
                                            const UncertainTime& time) {
    add(points_->branch(block, kind, target.address, target.block), time);
  }
  void take_system_call(const SystemCall& call) {
    for (const Branch& branch : branches_of(call, *points_)) {
      run_->add_plain(branch);
      run_->count_interval(0);
    }
  }
  [[nodiscard]] bool has_many() const { return run_->has_many(); }
  void end() {}

private:
  [[gnu::always_inline]] void add(const Branch& branch, const UncertainTime& time) {
    run_->add_plain(timed(branch, time.time_ns, time.uncertainty_ns));
    run_->count_interval(time.interval_ns);
  }

  const CodePoints* points_;
  RunBuilder* run_ = nullptr;
};

} // namespace

// Holds back the conditional branch at the end of the block, which was taken.
void PacketWalker::hold(const HeldBranch& held) {
  if (held.block != no_block) {
    const CodeGraph& graph = *graph_;
    const BlockId taken = graph[held.block].edge(true);
    run_->hold(graph.points().branch(held.block, BranchKind::cond, graph.ends(taken).begin, taken),
               UncertainTime(held.in, held.not_before));
  }
}

void PacketWalker::leave_bits(BlockId id, std::uint64_t bits, unsigned left, const Packet& packet) {
  address_ = id == no_block ? address_ : graph_->ends(id).begin;
  bits_ = bits;
  bit_count_ = static_cast<std::uint8_t>(left);
  bits_packet_ = packet;
}

// Takes the system call at the end of the block, which switches tracing off.
void PacketWalker::enter_system(BlockId id) {
  branch_ = graph_->points().branch(id, BranchKind::syscall, 0);
  branch_.leaving = BranchKind::syscall;
  address_ = 0;
  hidden_ = false;
  decided_ = true;
  is_off_ = true;
}

// Follows the graph while the packets are such that nothing can take effect between two decisions.
// Returns nullopt where the next instructions are to be followed one at a time.
std::optional<PacketWalker::Stop> PacketWalker::follow_graph() {
  if (bit_count_ != 0 || next_.kind != Flow::none) {
    return std::nullopt;
  }
  is_off_ = false;
  if (consumer_ != nullptr) {
    consumer_->follow(*this);
  } else {
    ListingSink sink(graph_->points());
    follow_packets(sink);
  }
  if (is_off_) {
    return Stop::off;
  }
  return bit_count_ == 0 && run_->is_long() ? std::optional(Stop::full) : std::nullopt;
}

} // namespace ptlens::flow
