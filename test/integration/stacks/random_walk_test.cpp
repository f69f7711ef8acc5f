// Random walks over functions that call, jump to each other and return, with and without losses in
// the trace. Each call that is complete must have happened, with that caller and at that time. The
// time of a thread is divided among its calls without remainder.
#include "branch_tape.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <tuple>

namespace ptlens::stacks::testing {
namespace {

class Walk {
public:
  explicit Walk(unsigned seed) : random_(seed) {}

  // `losses`: on average one step in this number begins a gap; 0: no step does.
  void run(std::size_t steps, unsigned losses) {
    frames_.push_back({"main", 0, tape.now, false});
    tape.on("main", 4);
    for (std::size_t step = 0; step < steps; ++step) {
      if (losses != 0 && below(losses) == 0) {
        lose();
      }
      move();
    }
    tape.finish();
  }

  Tape tape;
  using Call = std::tuple<std::string, std::string, std::uint64_t, std::uint64_t>;
  std::multiset<Call> happened; // function, caller, start, latency

private:
  struct Frame {
    std::string function;
    std::uint64_t return_offset = 0;
    std::uint64_t start = 0;
    bool tail = false;
  };

  unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }
  std::string any_function() {
    static const std::vector<std::string> names{"a", "b", "c", "d", "e"};
    return names[below(5)];
  }

  void lose() {
    tape.gap(frames_.back().function);
    lost_ = true;
    for (unsigned left = below(12); left > 0; --left) {
      move();
    }
    lost_ = false;
    tape.on(frames_.back().function, 40 + below(8));
  }

  void move() {
    const Frame& top = frames_.back();
    const unsigned choice = below(10);
    if (choice < 5 && frames_.size() < 12) {
      const std::string callee = any_function();
      const std::uint64_t offset = 8 * (1 + below(4));
      const std::uint64_t start = tape.now;
      emit([&] { tape.call(top.function, offset, callee); });
      frames_.push_back({callee, offset + 5, start, false});
    } else if (choice < 6 && frames_.size() > 1) {
      const std::string callee = any_function();
      if (callee != top.function) {
        const std::uint64_t start = tape.now;
        emit([&] { tape.jump(top.function, callee); });
        frames_.push_back({callee, 0, start, true});
      }
    } else if (frames_.size() > 1) {
      leave();
    }
  }

  void leave() {
    const std::string from = frames_.back().function;
    const std::uint64_t now = tape.now;
    bool tail = true;
    std::uint64_t offset = 0;
    while (tail) {
      const Frame ended = frames_.back();
      frames_.pop_back();
      tail = ended.tail;
      offset = ended.return_offset;
      happened.emplace(ended.function, frames_.back().function, ended.start, now - ended.start);
    }
    emit([&] { tape.ret(from, frames_.back().function, offset); });
  }

  template <class Emit>
  void emit(const Emit& emit) {
    if (lost_) {
      tape.now += 10;
    } else {
      emit();
    }
  }

  std::mt19937 random_;
  std::vector<Frame> frames_;
  bool lost_ = false;
};

// Checks that time is divided among the calls without remainder, that children are within their
// parents one after the other, that the outermost activations of a function take no longer than the
// whole, and that no call that spans a gap is complete. Inner activations are inside another
// activation of their function.
void expect_time_is_divided(const Tape& tape) {
  const CallTable& table = tape.table();
  const std::uint64_t traced = tape.builder().last_ns() - tape.builder().first_ns();
  EXPECT_EQ(tape.self(), traced);
  std::map<FunctionId, std::uint64_t> inclusive;
  std::map<CallIndex, std::uint64_t> sibling_end; // by parent
  for (std::size_t call = 0; call < table.size(); ++call) {
    inclusive[table.function[call]] += table.inner[call] == 0 ? table.latency[call] : 0;
    bool inside_itself = false;
    for (CallIndex above = table.parent[call]; above != CallIndex::none;
         above = table.parent[index_of(above)]) {
      inside_itself = inside_itself || table.function[index_of(above)] == table.function[call];
    }
    ASSERT_EQ(table.inner[call] != 0, inside_itself) << tape.calls()[call];
    if (table.parent[call] != CallIndex::none) {
      const std::uint32_t parent = index_of(table.parent[call]);
      ASSERT_LT(parent, call);
      ASSERT_GE(table.start[call], table.start[parent]);
      ASSERT_LE(table.start[call] + table.latency[call],
                table.start[parent] + table.latency[parent]);
    }
    std::uint64_t& free_from = sibling_end[table.parent[call]];
    ASSERT_GE(table.start[call], free_from) << tape.calls()[call];
    free_from = table.start[call] + table.latency[call];
    for (const auto& [begin, end] : tape.builder().gaps()) {
      ASSERT_TRUE(table.state[call] == CallState::incomplete || free_from <= begin ||
                  table.start[call] >= end)
          << tape.calls()[call] << " spans " << begin << " to " << end;
    }
  }
  for (const auto& [function, time] : inclusive) {
    ASSERT_LE(time, traced);
  }
}

void check(const Walk& walk) {
  const CallTable& table = walk.tape.table();
  std::multiset<Walk::Call> left = walk.happened;
  for (std::size_t call = 0; call < table.size(); ++call) {
    if (table.state[call] != CallState::complete) {
      continue;
    }
    const CallIndex parent = table.parent[call];
    const Walk::Call found{walk.tape.name(call),
                           parent == CallIndex::none ? "" : walk.tape.name(index_of(parent)),
                           table.start[call], table.latency[call]};
    const auto same = left.find(found);
    ASSERT_NE(same, left.end()) << walk.tape.calls()[call] << " did not happen";
    left.erase(same);
  }
  expect_time_is_divided(walk.tape);
}

class RandomWalk : public ::testing::TestWithParam<unsigned> {
protected:
  void SetUp() override {
    if (!test::has_command("gcc") || !tape_binary()) {
      GTEST_SKIP() << "gcc is not installed";
    }
  }
};

TEST_P(RandomWalk, AllCallsAreFoundWhereNothingIsLost) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    Walk walk(GetParam() + seed);
    walk.run(400, 0);
    check(walk);
    std::size_t complete = 0;
    for (const CallState state : walk.tape.table().state) {
      complete += state == CallState::complete ? 1 : 0;
    }
    EXPECT_EQ(complete, walk.happened.size());
  }
}

TEST_P(RandomWalk, CompleteCallsHaveHappenedWhereMuchIsLost) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Walk walk(GetParam() + seed);
    walk.run(400, 20);
    check(walk);
    if (HasFatalFailure()) {
      return;
    }
  }
}

// Any sequence of branches that a decoder may emit.
TEST_P(RandomWalk, AnyBranchesAtAllKeepTheTimeTogether) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(GetParam() + seed);
    Tape tape;
    const auto address = [&] {
      static const std::vector<std::string> names{"main", "a", "b", "c", "d", "e", "handler"};
      static const std::vector<std::uint64_t> offsets{0, 8, 13, 16, 21, 40};
      if (random() % 20 == 0) {
        return std::uint64_t{random() % 3} * 0x1234;
      }
      return tape.at(names[random() % names.size()], offsets[random() % offsets.size()]);
    };
    for (unsigned step = 0; step < 300; ++step) {
      constexpr unsigned kinds = static_cast<unsigned>(flow::BranchKind::gap) + 1;
      const auto kind = static_cast<flow::BranchKind>(random() % kinds);
      const std::uint64_t from = address();
      const std::uint64_t to = address();
      tape.any(kind, from, to, random() % 2 == 0 ? 5 : 0);
    }
    tape.finish(seed % 2 == 0);
    expect_time_is_divided(tape);
    if (HasFatalFailure()) {
      return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomWalk, ::testing::Values(1000U, 2000U));

} // namespace
} // namespace ptlens::stacks::testing
