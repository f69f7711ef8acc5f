// A damaged cache is found to be damaged, wherever the damage is, and a dying writer leaves nothing
// that could be taken for a cache.
#include "cache/random_table.hpp"
#include "cache/reading/call_rows.hpp"
#include "cache/writing/output.hpp"
#include "cache/writing/writer.hpp"
#include "stacks/calls/closed_call.hpp"
#include "support/ids.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stop_token>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace ptlens::cache {
namespace {

namespace fs = std::filesystem;

class Damage : public testing::Test {
protected:
  Damage() { fs::create_directory(folder); }
  ~Damage() override { fs::remove_all(folder); }

  std::string folder = testing::TempDir() + "ptlens_damage_" + std::to_string(::getpid());
  std::string path = folder + "/perf.data.calls";

  void hand_over(Writer& writer, const stacks::CallTable& table) const {
    test::hand_over(table, false, [&](std::uint32_t thread, const stacks::ClosedCall& call) {
      writer.thread(thread).take(call);
    });
  }
  [[nodiscard]] std::vector<std::byte> small_cache() const {
    Writer writer({.path = path, .large_edge_calls = 1});
    hand_over(writer, test::random_table(4, 12));
    EXPECT_TRUE(writer.finish("key", test::description()).has_value());
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
  }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }
};

bool is_whole(const std::vector<std::byte>& bytes) {
  const auto cache = CallCache::open(bytes);
  if (!cache) {
    return false;
  }
  (void)read_all_calls(**cache);
  for (const auto function : first_ids<stacks::FunctionId>((*cache)->function_count())) {
    (void)(*cache)->edges_from(function);
  }
  (void)(*cache)->large_edge(EdgeId{0});
  return !(*cache)->damaged();
}

TEST_F(Damage, OfAnyByteIsDetected) {
  const std::vector<std::byte> bytes = small_cache();
  ASSERT_TRUE(is_whole(bytes));
  std::vector<std::size_t> missed;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::vector<std::byte> damaged = bytes;
    damaged[at] ^= std::byte{0x41};
    if (is_whole(damaged)) {
      missed.push_back(at);
    }
  }
  // Nothing reads the zeros between the last block and the directory.
  EXPECT_LE(missed.size(), 2 * column_padding);
  for (const std::size_t at : missed) {
    EXPECT_EQ(bytes[at], std::byte{0}) << at;
  }
}

TEST_F(Damage, OfTheLengthIsDetected) {
  const std::vector<std::byte> bytes = small_cache();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(is_whole({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)}))
        << length;
  }
  std::vector<std::byte> longer = bytes;
  longer.emplace_back();
  EXPECT_FALSE(is_whole(longer));
}

TEST_F(Damage, CallsOfUnknownFunctionsAreRefused) {
  stacks::ClosedCall call;
  call.function = stacks::FunctionId{test::functions}; // one too high
  Writer of_function({});
  of_function.thread(0).take(call);
  EXPECT_FALSE(of_function.finish({}, test::description()).has_value());
  call.function = 0_fn;
  call.site = stacks::SiteId{test::sites};
  Writer of_site({});
  of_site.thread(0).take(call);
  EXPECT_FALSE(of_site.finish({}, test::description()).has_value());
  call.site = 0_site;
  Writer of_thread({});
  of_thread.thread(test::threads).take(call);
  EXPECT_FALSE(of_thread.finish({}, test::description()).has_value());
}

TEST_F(Damage, AKilledWriterLeavesATemporaryFileThatTheNextOneRemoves) {
  const stacks::CallTable table = test::random_table(6, 30'000);
  const pid_t child = ::fork();
  if (child == 0) {
    Writer writer({.path = path, .memory_bytes = 1});
    hand_over(writer, table);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_EQ(files().size(), 1U);
  EXPECT_TRUE(files().front().ends_with(".tmp"));
  EXPECT_FALSE(fs::exists(path));
  {
    Writer living({.path = path}); // removes the dead one's file, and has its own
    ASSERT_EQ(files().size(), 1U);
    const std::string own = files().front();
    Writer other({.path = path}); // leaves the living one's alone
    EXPECT_EQ(files().size(), 2U);
    hand_over(living, table);
    hand_over(other, table);
    EXPECT_TRUE(living.finish("one", test::description()).has_value());
    EXPECT_TRUE(other.finish("other", test::description()).has_value());
  }
  EXPECT_EQ(files(), std::vector<std::string>{"perf.data.calls"});
  const auto cache = CallCache::open(path);
  ASSERT_TRUE(cache.has_value());
  EXPECT_EQ((*cache)->key(), "other"); // the last to finish
  test::expect_equal(read_all_calls(**cache).calls, table);
}

TEST_F(Damage, AnAbandonedWriterLeavesNothing) {
  {
    Writer writer({.path = path, .memory_bytes = 1});
    hand_over(writer, test::random_table(6, 10'000));
  }
  EXPECT_TRUE(files().empty());
}

TEST_F(Damage, AFullDiskIsNotAFailure) {
  const stacks::CallTable table = test::random_table(8, 20'000);
  const pid_t child = ::fork();
  if (child == 0) {
    // A limit on the size of files simulates a full disk: write() fails in the same way.
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 1U << 20U, .rlim_max = 1U << 20U};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    Writer writer({.path = path});
    hand_over(writer, table);
    const auto cache = writer.finish("key", test::description());
    const bool good = cache && (*cache)->in_memory() && !writer.trouble().empty() &&
                      read_all_calls(**cache).calls.latency == table.latency &&
                      !(*cache)->damaged() && !fs::exists(path);
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(Damage, AMissingFolderIsNotAFailure) {
  const stacks::CallTable table = test::random_table(9, 50);
  Writer writer({.path = folder + "/none/perf.data.calls"});
  hand_over(writer, table);
  const auto cache = writer.finish("key", test::description());
  ASSERT_TRUE(cache.has_value());
  EXPECT_TRUE((*cache)->in_memory());
  EXPECT_NE(writer.trouble(), "");
  test::expect_equal(read_all_calls(**cache).calls, table);
}

TEST_F(Damage, SeveralThreadsMayWriteAtOnce) {
  const stacks::CallTable table = test::random_table(10, 20'000);
  Writer writer({.path = path, .memory_bytes = 1});
  {
    std::vector<std::jthread> workers;
    for (std::uint32_t thread = 0; thread < test::threads; ++thread) {
      workers.emplace_back([&, thread] {
        test::hand_over(table, false, [&](std::uint32_t of, const stacks::ClosedCall& call) {
          if (of == thread) {
            writer.thread(thread).take(call);
          }
        });
      });
    }
  }
  const auto cache = writer.finish("key", test::description());
  ASSERT_TRUE(cache.has_value());
  test::expect_equal(read_all_calls(**cache).calls, table);
}

// As another process does that begins to write the same cache.
TEST_F(Damage, NoFileIsTakenForAbandonedThatIsBeingWritten) {
  const std::jthread other([this](const std::stop_token& ends) {
    while (!ends.stop_requested()) {
      remove_abandoned(path);
    }
  });
  constexpr int rounds = 3'000;
  for (int round = 0; round < rounds; ++round) {
    auto output = Output::create(path);
    ASSERT_TRUE(output) << output.error().one_line();
    EXPECT_TRUE(fs::exists(output->complete())) << round;
  }
}

} // namespace
} // namespace ptlens::cache
