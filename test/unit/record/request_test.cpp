#include "record/request.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ptlens::record::test {
namespace {

TEST(Request, HasExactlyOneTarget) {
  struct Case {
    std::function<void(Request&)> change;
    TargetKind kind;
    const char* text;
  };
  const std::vector<Case> cases = {
      {[](Request& r) { r.pid = 42; }, TargetKind::process, "process 42"},
      {[](Request& r) { r.tid = 43; }, TargetKind::thread, "thread 43"},
      {[](Request& r) { r.cpu = 0; }, TargetKind::cpu, "CPU 0"},
      {[](Request& r) { r.all_cpus = true; }, TargetKind::all_cpus, "all CPUs"},
      {[](Request& r) { r.program = {"./a", "b"}; }, TargetKind::program, "program ./a"}};
  EXPECT_FALSE(check_target(Request()));
  for (const Case& one : cases) {
    Request request;
    one.change(request);
    ASSERT_TRUE(check_target(request)) << one.text;
    EXPECT_EQ(*check_target(request), one.kind) << one.text;
    EXPECT_EQ(target_text(request), one.text);
    for (const Case& other : cases) {
      if (other.kind != one.kind) {
        Request both = request;
        other.change(both);
        EXPECT_EQ(check_target(both).error().kind, Error::Kind::bad_input)
            << one.text << ", " << other.text;
      }
    }
  }
}

TEST(Request, RefusesNumbersThatCannotExist) {
  Request process;
  process.pid = 0;
  EXPECT_FALSE(check_target(process));
  Request thread;
  thread.tid = -1;
  EXPECT_FALSE(check_target(thread));
  Request cpu;
  cpu.cpu = -1;
  EXPECT_FALSE(check_target(cpu));
}

TEST(Request, RefusesContradictoryOptions) {
  const auto refused = [](const std::function<void(Request&)>& change) {
    Request request;
    request.pid = 42;
    EXPECT_TRUE(check_request(request));
    change(request);
    const auto checked = check_request(request);
    return !checked && !checked.error().remedy.empty();
  };
  EXPECT_TRUE(refused([](Request& r) { r.duration_s = -1; }));
  EXPECT_TRUE(refused([](Request& r) { r.duration_s = 1 / 0.0; }));
  EXPECT_TRUE(refused([](Request& r) { r.backend = "magic"; }));
  EXPECT_TRUE(refused([](Request& r) { r.all = true; }));
  EXPECT_TRUE(refused([](Request& r) {
    r.function = "f";
    r.all = r.filter = true;
  }));
  EXPECT_TRUE(refused([](Request& r) {
    r.set_functions({{.name = "f"}, {.name = "g"}});
    r.filter = true;
  }));
  EXPECT_TRUE(refused([](Request& r) {
    r.set_functions(std::vector<WantedFunction>(65, WantedFunction{.name = "f"}));
  }));
  EXPECT_TRUE(refused([](Request& r) { r.slower_than_ns = 1; }));
  EXPECT_TRUE(refused([](Request& r) {
    r.snapshot = true;
    r.slower_than_ns = 1;
  }));
}

TEST(Request, RefusesOptionsOfAnotherKindOfTarget) {
  const auto message = [](const std::function<void(Request&)>& change) {
    Request request;
    request.pid = 42;
    change(request);
    const auto checked = check_request(request);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_NE(message([](Request& r) { r.working_directory = "/"; }).find("--cwd"),
            std::string::npos);
  EXPECT_NE(message([](Request& r) { r.environment = {"A=1"}; }).find("--env"), std::string::npos);
  EXPECT_NE(message([](Request& r) { r.binary = "a"; }).find("--binary"), std::string::npos);
  EXPECT_NE(message([](Request& r) { r.filter = true; }).find("address filter"), std::string::npos);
}

TEST(Request, RefusesWhatTheBackendCannotDo) {
  const std::vector<std::pair<const char*, std::function<void(Request&)>>> cases = {
      {"--filter", [](Request& r) { r.filter = true; }},
      {"--kernel", [](Request& r) { r.kernel = true; }},
      {"--probe", [](Request& r) { r.probe = true; }}};
  for (const auto& [option, change] : cases) {
    Request request;
    change(request);
    for (const bool has_intel_pt : {false, true}) {
      EXPECT_TRUE(check_backend(request, "intel_pt", has_intel_pt));
      const auto checked = check_backend(request, "uprobe", has_intel_pt);
      ASSERT_FALSE(checked) << option;
      EXPECT_TRUE(checked.error().message.starts_with(option));
      EXPECT_EQ(checked.error().remedy.contains("--backend intel_pt"), has_intel_pt);
    }
  }
  Request untried;
  untried.probe = false; // nothing is tried first anyway
  EXPECT_TRUE(check_backend(untried, "uprobe", false));
}

} // namespace
} // namespace ptlens::record::test
