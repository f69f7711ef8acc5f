// Figures of several recordings in one file: main, at line 10, calls work, at line 3, from line 12.
// Each recording was made by probes to measure one of the two and contains calls of both.
#include "record/manifest.hpp"
#include "server/client.hpp"
#include "server/fake_host.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

namespace ptlens::server {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t main_address = 0x1000;
constexpr std::uint64_t work_address = 0xffffffffff600000;

class NewestFigures : public testing::Test {
protected:
  static Host host() {
    Host host = fake_host(std::make_shared<FakeState>());
    host.open = [](const OpenRequest& request, const measure::Watch&,
                   const Progress&) -> Result<std::shared_ptr<const measure::Measurement>> {
      auto measurement = exporting::example();
      measurement.recording.path = request.path;
      measurement.recording.backend = "uprobe";
      if (request.path.ends_with("rebuilt")) {
        measurement.functions[stacks::FunctionId{1}].address = moved;
      }
      return std::make_shared<const measure::Measurement>(std::move(measurement));
    };
    return host;
  }
  static constexpr std::uint64_t moved = 0x7770;

  NewestFigures() : client(host()) { client.initialize(); }
  ~NewestFigures() override { fs::remove_all(folder); }

  // Opens a recording that was made to measure the function with this address.
  std::string open(const std::string& name, std::uint64_t address) {
    const std::string path = folder / name;
    fs::create_directories(path);
    record::Manifest manifest;
    manifest.backend = "uprobe";
    manifest.probes = {
        {.binary = "/bin/app", .function = address, .address = address, .target = true}};
    EXPECT_TRUE(record::write_manifest(path, manifest));
    const Json answer =
        client.call("o" + name, "ptlens/open", {{"path", path}, {"activate", false}});
    return answer["result"]["recording"]["id"];
  }

  void activate(const std::string& id, const Json& others) {
    const Json answer = client.call(fmt::format("x{}", ++asked), "ptlens/activate",
                                    {{"id", id}, {"others", others}});
    EXPECT_TRUE(answer.contains("result")) << answer;
  }

  // Returns the recording of each lens, by its 0-based line.
  std::map<int, std::string> lenses() {
    std::map<int, std::string> found;
    const Json answer = client.call(fmt::format("l{}", ++asked), "textDocument/codeLens",
                                    {{"textDocument", {{"uri", "file:///s/a.cpp"}}}})["result"];
    for (const Json& lens : answer) {
      const int line = lens["range"]["start"]["line"];
      EXPECT_FALSE(found.contains(line)) << "one lens a function";
      found[line] = lens["command"]["arguments"][0]["id"];
    }
    return found;
  }
  Json annotations() {
    return client.call(fmt::format("a{}", ++asked), "ptlens/annotations",
                       {{"file", "/s/a.cpp"}, {"heat", true}})["result"];
  }
  std::string hover(int line) {
    const Json answer = client.call(fmt::format("h{}", ++asked), "textDocument/hover",
                                    {{"textDocument", {{"uri", "file:///s/a.cpp"}}},
                                     {"position", {{"line", line}, {"character", 0}}}})["result"];
    return answer.is_null() ? "" : answer["contents"]["value"].get<std::string>();
  }

  fs::path folder = fs::temp_directory_path() / fmt::format("ptlens-newest-{}", ::getpid());
  Client client;
  int asked = 0;
};

TEST_F(NewestFigures, EachFunctionShowsTheRecordingThatWasMadeForIt) {
  const std::string of_main = open("main", main_address);
  const std::string of_work = open("work", work_address);
  const std::map<int, std::string> own = {{2, of_work}, {9, of_main}};
  activate(of_work, {of_main});
  EXPECT_EQ(lenses(), own);
  activate(of_main, {of_work});
  EXPECT_EQ(lenses(), own);
  activate(of_main, Json::array());
  EXPECT_EQ(lenses(), (std::map<int, std::string>{{2, of_main}, {9, of_main}}));
}

TEST_F(NewestFigures, OfTwoRecordingsOfAFunctionTheActiveOneThenTheFirstCounts) {
  const std::string older = open("older", work_address);
  const std::string newer = open("newer", work_address);
  const std::string of_main = open("main", main_address);
  activate(newer, {older});
  EXPECT_EQ(lenses().at(2), newer);
  activate(older, {newer});
  EXPECT_EQ(lenses().at(2), older);
  activate(of_main, {newer, older});
  EXPECT_EQ(lenses().at(2), newer);
}

TEST_F(NewestFigures, AFunctionThatMovedInARebuildIsTheSame) {
  const std::string before = open("before", work_address);
  const std::string after = open("rebuilt", moved);
  activate(after, {before});
  EXPECT_EQ(lenses().at(2), after);
}

TEST_F(NewestFigures, ALineIsShownOnce) {
  const std::string of_main = open("main", main_address);
  const std::string of_work = open("work", work_address);
  activate(of_work, Json::array());
  const Json alone = annotations();
  const std::string text = hover(11);
  activate(of_work, {of_main});
  const Json both = annotations();
  ASSERT_EQ(both["lines"].size(), alone["lines"].size());
  EXPECT_EQ(both["lines"][0]["line"], 12);
  EXPECT_EQ(both["lines"][0]["calls"], alone["lines"][0]["calls"]) << "not the sum";
  EXPECT_EQ(both["heat"], alone["heat"]);
  EXPECT_EQ(both["hottest"], alone["hottest"]);
  EXPECT_EQ(hover(11), text);
}

TEST_F(NewestFigures, AreRefusedForARecordingThatIsNotOpen) {
  const std::string of_work = open("work", work_address);
  const Json answer = client.call("n", "ptlens/activate", {{"id", of_work}, {"others", {"99"}}});
  EXPECT_EQ(answer["error"]["code"], -32011);
  EXPECT_TRUE(lenses().empty()) << "nothing was activated";
  activate(of_work, {of_work});
  EXPECT_EQ(lenses().size(), 2U) << "the active recording is not shown twice";
}

} // namespace
} // namespace ptlens::server
