#include "record/perf/perf_control.hpp"
#include "record/processes/child.hpp"
#include "record/processes/process_stat.hpp"
#include "record/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <thread>
#include <unistd.h>

namespace ptlens::record::test {
namespace {

using std::chrono::seconds;

TEST(Child, GetsItsArgumentsEnvironmentAndFolder) {
  const TemporaryFolder folder;
  auto child = Child::start(ChildOptions{
      .arguments = {"/bin/sh", "-c", "printf '%s|%s|%s' \"$1\" \"$PTLENS_TEST\" \"$PWD\"", "sh",
                    "a b;$(c)"},
      .working_directory = folder / "",
      .environment = {"PTLENS_TEST=value"}});
  ASSERT_TRUE(child) << child.error().one_line();
  const auto status = child->wait(seconds(30));
  ASSERT_TRUE(status);
  EXPECT_EQ(*status, 0);
  const std::string path = std::filesystem::canonical(folder / "").string();
  EXPECT_TRUE(child->output().starts_with("a b;$(c)|value|" + path)) << child->output();
}

TEST(Child, ReportsWhyItCannotStart) {
  const auto missing = Child::start(ChildOptions{.arguments = {"/no/such/program"}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, Error::Kind::not_found);
  const auto folder = Child::start(ChildOptions{.arguments = {"/tmp"}});
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().kind, Error::Kind::no_rights);
}

TEST(Child, KeepsBoundedOutputWithItsLastLine) {
  auto child = Child::start(ChildOptions{
      .arguments = {"/bin/sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' x; echo; echo last"}});
  ASSERT_TRUE(child);
  ASSERT_TRUE(child->wait(seconds(30)));
  EXPECT_LE(child->output().size(), 65536U);
  EXPECT_EQ(child->last_line(), "last");
}

TEST(Child, DiesWithItsWholeGroup) {
  const TemporaryFolder folder;
  std::int32_t grandchild = 0;
  {
    auto child =
        Child::start(ChildOptions{.arguments = {"/bin/sh", "-c", "sleep 1000 & echo $!; wait"}});
    ASSERT_TRUE(child);
    while (child->last_line().empty()) {
      child->read_output();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    grandchild = std::stoi(child->last_line());
    ASSERT_TRUE(process_stat(grandchild));
  }
  const auto gone = [grandchild] {
    const auto stat = process_stat(grandchild);
    return !stat || stat->state == 'Z';
  };
  for (int wait = 0; wait < 1000 && !gone(); ++wait) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(gone());
}

TEST(PerfControl, DistinguishesAnswersFromTheEndOfPerf) {
  auto control = PerfControl::make();
  ASSERT_TRUE(control);
  const auto [command, answer] = control->child_ends();
  EXPECT_EQ(control->answer(), PerfControl::Answer::none);
  EXPECT_TRUE(control->send("stop"));
  std::array<char, 16> text{};
  EXPECT_EQ(::read(command, text.data(), text.size()), 5);
  EXPECT_EQ(std::string_view(text.data(), 5), "stop\n");
  EXPECT_EQ(::write(answer, "ack\n\0", 5), 5); // perf sends the zero as well
  EXPECT_EQ(control->answer(), PerfControl::Answer::acknowledged);
  control->close_child_ends();
  EXPECT_EQ(control->answer(), PerfControl::Answer::closed);
  EXPECT_FALSE(control->send("stop"));
}

} // namespace
} // namespace ptlens::record::test
