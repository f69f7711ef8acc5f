// Inlined instances, compared with addr2line at every address.
#include "symbols/compiled_programs.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ptlens::symbols::test {
namespace {

struct Frame { // a frame of addr2line -i
  std::string function;
  std::uint32_t line = 0;
};

std::string sample_source() {
  std::ifstream file(PTLENS_SOURCE_ROOT "/test/samples/inlined.cpp");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Returns the frames, innermost first.
std::map<std::uint64_t, std::vector<Frame>> frames_by_addr2line(const std::string& path,
                                                                const Binary& binary) {
  std::string addresses;
  for (const Function& function : binary.functions()) {
    if (function.name.starts_with("sums::")) {
      for (const AddressRange& range : function.ranges) {
        for (std::uint64_t address = range.low; address < range.high; ++address) {
          addresses += fmt::format("{:#x}\n", address);
        }
      }
    }
  }
  std::istringstream output(
      run_command({"addr2line", "-a", "-f", "-i", "-C", "-e", path}, addresses).output);
  std::map<std::uint64_t, std::vector<Frame>> frames;
  std::vector<Frame>* current = nullptr;
  for (std::string line; std::getline(output, line);) {
    if (line.starts_with("0x")) {
      current = &frames[std::stoull(line, nullptr, 16)];
      continue;
    }
    std::string place;
    std::getline(output, place);
    const std::size_t colon = place.rfind(':');
    current->push_back(
        {line, static_cast<std::uint32_t>(std::strtoul(place.c_str() + colon + 1, nullptr, 10))});
  }
  return frames;
}

class Inlined : public testing::TestWithParam<std::vector<std::string>> {
protected:
  void SetUp() override {
    if (!GetParam().front().starts_with('-') && !has_command(GetParam().front())) {
      GTEST_SKIP() << GetParam().front() << " is not installed";
    }
    path = folder.compile("inlined", sample_source(), GetParam());
    binary = open_binary(path);
    ASSERT_TRUE(binary);
  }

  TemporaryFolder folder;
  std::string path;
  std::shared_ptr<const Binary> binary;
};

TEST_P(Inlined, InstancesEqualAddr2linesAtEveryAddress) {
  const std::vector<InlinedInstance> instances = binary->inlined("mix");
  ASSERT_EQ(instances.size(), 3U);
  std::size_t inside = 0;
  for (const auto& [address, frames] : frames_by_addr2line(path, *binary)) {
    if (frames.front().line == 0) {
      continue; // addr2line prints no frames of inlined code where the line table names no line
    }
    // The position of the inlined function in the chain of frames, and the line of its call.
    std::optional<std::uint32_t> call_line;
    for (std::size_t i = 0; i + 1 < frames.size(); ++i) {
      if (frames[i].function == "sums::mix(unsigned long)") {
        call_line = frames[i + 1].line;
      }
    }
    const auto instance = std::ranges::find_if(instances, [address](const InlinedInstance& each) {
      return std::ranges::any_of(each.ranges, [address](const AddressRange& range) {
        return range.low <= address && address < range.high;
      });
    });
    ASSERT_EQ(instance != instances.end(), call_line.has_value()) << fmt::format("{:#x}", address);
    if (call_line) {
      ++inside;
      EXPECT_EQ(instance->call_line, *call_line) << fmt::format("{:#x}", address);
      EXPECT_EQ(binary->functions()[*instance->function].name, frames.back().function);
      EXPECT_EQ(instance->depth, frames.size() - 2) << fmt::format("{:#x}", address);
    }
  }
  EXPECT_GT(inside, 100U);
}

TEST_P(Inlined, OwnLinesEqualTheOutermostFrameOfAddr2line) {
  std::vector<std::uint32_t> functions;
  for (const char* name : {"sums::in_a_loop", "sums::once", "sums::nested", "sums::stir"}) {
    const std::vector<std::uint32_t> found = binary->find(name);
    ASSERT_EQ(found.size(), 1U) << name;
    functions.push_back(found.front());
  }
  const std::vector<CodeLine> lines = binary->own_lines(functions);
  std::uint64_t last = 0;
  for (const CodeLine& code : lines) {
    EXPECT_LE(last, code.low);
    EXPECT_LT(code.low, code.high);
    last = code.high;
  }
  std::size_t compared = 0;
  for (const auto& [address, frames] : frames_by_addr2line(path, *binary)) {
    const auto at = std::ranges::upper_bound(lines, address, {}, &CodeLine::high);
    const bool own = std::ranges::any_of(functions, [&](std::uint32_t function) {
      return binary->function_at(address) == function;
    });
    ASSERT_EQ(at != lines.end() && at->low <= address, own) << fmt::format("{:#x}", address);
    if (own && frames.front().line != 0) {
      ++compared;
      EXPECT_EQ(at->line, frames.back().line) << fmt::format("{:#x}", address);
    }
  }
  EXPECT_GT(compared, 200U);
}

INSTANTIATE_TEST_SUITE_P(Compilers, Inlined,
                         testing::Values(std::vector<std::string>{"-O2", "-g"},
                                         std::vector<std::string>{"-O2", "-gdwarf-4"},
                                         std::vector<std::string>{"clang++-19", "-O2", "-gdwarf-4",
                                                                  "-fno-unroll-loops"}));

TEST(InlinedNames, FollowTheRulesOfFind) {
  const TemporaryFolder folder;
  const std::string path = folder.compile("names", R"(
volatile int sink;
namespace one { __attribute__((always_inline)) inline void put(int x) { sink = x; } }
namespace two { __attribute__((always_inline)) inline void put(long x) { sink = sink + x; } }
namespace { __attribute__((always_inline)) inline void hidden() { sink = 3; } }
template <class T> __attribute__((always_inline)) inline void pass(T x) { sink = sink * x; }
int main(int argc, char**) { one::put(argc); two::put(argc); hidden(); pass(argc); pass(2.5); }
)",
                                          {"-O2", "-g"});
  const auto binary = open_binary(path);
  ASSERT_TRUE(binary);
  const auto names = [&](std::string_view name) {
    std::multiset<std::string> found;
    for (const InlinedInstance& instance : binary->inlined(name)) {
      found.insert(instance.name);
    }
    return found;
  };
  using Names = std::multiset<std::string>;
  EXPECT_EQ(names("put"), (Names{"one::put(int)", "two::put(long)"}));
  EXPECT_EQ(names("one::put"), Names{"one::put(int)"});
  EXPECT_EQ(names("one::put(int)"), Names{"one::put(int)"});
  EXPECT_EQ(names("one::put(char)"), Names{});
  EXPECT_EQ(names("_ZN3two3putEl"), Names{"two::put(long)"});
  EXPECT_EQ(names("hidden"), Names{"(anonymous namespace)::hidden"});
  EXPECT_EQ(names("pass").size(), 2U);
  EXPECT_EQ(names("main"), Names{});
  EXPECT_EQ(names(""), Names{});
  EXPECT_TRUE(std::ranges::binary_search(binary->inlined_names(), "put"));
  EXPECT_FALSE(std::ranges::binary_search(binary->inlined_names(), "main"));
}

} // namespace
} // namespace ptlens::symbols::test
