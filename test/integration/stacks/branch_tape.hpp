// Branches written for a test, between functions of a program in assembly: each function is 64
// bytes long, and its code does not matter.
#pragma once

#include "assembled.hpp"
#include "stacks/calls/call_table.hpp"
#include "stacks/threads/call_builder.hpp"
#include "symbols/binary.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ptlens::stacks::testing {

// Functions named main, a, b, c, d, e and handler.
inline std::shared_ptr<const symbols::Binary> tape_binary() {
  static const std::shared_ptr<const symbols::Binary> binary = [] {
    std::string text = ".text\n";
    for (const char* name : {"main", "a", "b", "c", "d", "e", "handler"}) {
      text += fmt::format(".globl {0}\n.type {0}, @function\n{0}: .skip 64, 0x90\n.size {0}, 64\n",
                          name);
    }
    return test::assembled("tape", text, "main");
  }();
  return binary;
}

class Tape {
public:
  explicit Tape(std::span<const perfdata::Switch> switches = {})
      : binary_(tape_binary()), context_switches_(switches),
        builder_(calls_.thread(0), symbolizer_, facts_, context_switches_, 1) {
    space_.serial = 1;
    const symbols::Segment& segment = binary_->code_segments().front();
    space_.code.push_back({.start = segment.address,
                           .end = segment.address + segment.file_size,
                           .file_offset = segment.file_offset,
                           .path = "/tape",
                           .binary = binary_});
    // The same code again, as code of the kernel.
    space_.code.push_back({.start = segment.address + kernel_base,
                           .end = segment.address + segment.file_size + kernel_base,
                           .file_offset = segment.file_offset,
                           .bias = kernel_base,
                           .path = "/tape",
                           .binary = binary_});
  }

  std::uint64_t now = 1000; // time of the next branch, ns; each branch adds 10

  [[nodiscard]] std::uint64_t at(const std::string& function, std::uint64_t offset = 0) const {
    return binary_->functions()[binary_->find(function).front()].address + offset;
  }

  static constexpr std::uint64_t kernel_base = 0xffffffff80000000;
  [[nodiscard]] std::uint64_t in_kernel(const std::string& function,
                                        std::uint64_t offset = 0) const {
    return kernel_base + at(function, offset);
  }

  // Adds a call by the instruction at `offset` of `from`, which returns to offset + 5.
  void call(const std::string& from, std::uint64_t offset, const std::string& to) {
    add(flow::BranchKind::call, at(from, offset), at(to), call_size);
  }
  void ret(const std::string& from, const std::string& to, std::uint64_t offset) {
    add(flow::BranchKind::ret, at(from, last), at(to, offset), 1);
  }
  void jump(const std::string& from, const std::string& to) {
    add(flow::BranchKind::jump, at(from, last), at(to), 2);
  }
  void on(const std::string& function, std::uint64_t offset) {
    add(flow::BranchKind::on, 0, at(function, offset), 0);
  }
  void off(const std::string& function, std::uint64_t offset) {
    add(flow::BranchKind::off, at(function, offset), 0, 0);
  }
  void gap(const std::string& function) { add(flow::BranchKind::gap, at(function), 0, 0); }
  void syscall(const std::string& function, std::uint64_t offset) {
    add(flow::BranchKind::syscall, at(function, offset), 0, 2);
  }

  void any(flow::BranchKind kind, std::uint64_t from, std::uint64_t to, std::uint8_t size) {
    add(kind, from, to, size);
  }

  void finish(bool exited = false) {
    builder_.finish(exited);
    table_ = calls_.take();
  }

  // Returns one line for each call: "name in parent: state start+latency".
  [[nodiscard]] std::vector<std::string> calls() const {
    std::vector<std::string> lines;
    for (std::size_t call = 0; call < table_.size(); ++call) {
      const CallIndex parent = table_.parent[call];
      static constexpr const char* states[] = {"complete", "incomplete", "unwound"};
      lines.push_back(fmt::format("{} in {}: {} {}+{}", name(call),
                                  parent == CallIndex::none ? "-" : name(index_of(parent)),
                                  states[static_cast<std::size_t>(table_.state[call])],
                                  table_.start[call], table_.latency[call]));
    }
    return lines;
  }
  [[nodiscard]] std::uint64_t self() const {
    std::uint64_t sum = 0;
    for (std::size_t call = 0; call < table_.size(); ++call) {
      EXPECT_LE(table_.children[call], table_.latency[call]) << calls()[call];
      sum += table_.self(call);
    }
    return sum;
  }
  [[nodiscard]] const CallTable& table() const { return table_; }
  [[nodiscard]] std::string name(std::size_t call) const {
    return symbolizer_.functions()[table_.function[call]].name;
  }
  [[nodiscard]] const CallBuilder& builder() const { return builder_; }

private:
  static constexpr std::uint64_t last = 60; // offset of instructions that leave
  static constexpr std::uint8_t call_size = 5;

  void add(flow::BranchKind kind, std::uint64_t from, std::uint64_t to, std::uint8_t size) {
    builder_.add({.time_ns = now, .from = from, .to = to, .kind = kind, .from_size = size}, space_);
    now += 10;
  }

  std::shared_ptr<const symbols::Binary> binary_;
  perfdata::ContextSwitches context_switches_;
  CallTableBuilder calls_;
  CallTable table_;
  Symbolizer symbolizer_;
  CodeFacts facts_;
  CallBuilder builder_;
  symbols::AddressSpaceVersion space_;
};

} // namespace ptlens::stacks::testing
