// The loop of exact_walk.hpp with the run itself as what takes the branches.
#include "flow/walk/exact_walk.hpp"

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

BlockId PacketWalker::follow_exact(BlockId block) {
  if (consumer_ != nullptr) {
    return consumer_->follow(*this, block);
  }
  ListingSink sink(graph_->points());
  return follow_exact(block, sink);
}

} // namespace ptlens::flow
