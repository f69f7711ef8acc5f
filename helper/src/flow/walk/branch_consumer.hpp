// Takes the branches of one version of code in place of the run: in the stretches of trace in which
// nothing but TNT and TIP packets comes, and system calls that return. stacks/pairing makes calls
// of them there.
#pragma once

#include "base/interface.hpp"
#include "flow/code/code_graph.hpp"

#include <functional>
#include <memory>

namespace ptlens::flow {

class PacketWalker;

class BranchConsumer : public Interface {
public:
  // Calls `walker.follow_packets(sink)`, where `sink` is what takes each branch: see
  // graph_walk.hpp. One virtual call for a stretch, so that the branches need none.
  virtual void follow(PacketWalker& walker) = 0;
};

// Makes the consumer of the branches of a graph of code, which outlives it.
using MakeConsumer = std::function<std::unique_ptr<BranchConsumer>(CodeGraph& graph)>;

} // namespace ptlens::flow
