// Archives that pretend to be bundles: nothing leaves the folder that they are unpacked to.
#include "engine/bundle/bundle.hpp"

#include <gtest/gtest.h>

#include <archive.h>
#include <archive_entry.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace ptlens::engine {
namespace {

namespace fs = std::filesystem;

struct Entry {
  std::string name;
  std::string text = {};
  std::string link = {}; // symbolic, to there
};

class BundleFile : public ::testing::Test {
protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "ptlens-bundle-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    ::setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("XDG_CACHE_HOME");
    fs::remove_all(folder_);
  }

  std::string write(const std::vector<Entry>& entries) {
    const std::string path = (folder_ / "bundle").string();
    archive* const file = archive_write_new();
    archive_write_set_format_pax_restricted(file);
    archive_write_add_filter_zstd(file);
    archive_write_open_filename(file, path.c_str());
    for (const Entry& each : entries) {
      archive_entry* const entry = archive_entry_new();
      archive_entry_set_pathname(entry, each.name.c_str());
      archive_entry_set_perm(entry, 0644);
      if (each.link.empty()) {
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_size(entry, static_cast<la_int64_t>(each.text.size()));
      } else {
        archive_entry_set_filetype(entry, AE_IFLNK);
        archive_entry_set_symlink(entry, each.link.c_str());
      }
      archive_write_header(file, entry);
      archive_write_data(file, each.text.data(), each.text.size());
      archive_entry_free(entry);
    }
    archive_write_close(file);
    archive_write_free(file);
    return path;
  }

  [[nodiscard]] std::size_t unpacked_folders() const {
    std::error_code absent;
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry :
         fs::directory_iterator(folder_ / "cache/ptlens/bundles", absent)) {
      ++count;
    }
    return count;
  }

  fs::path folder_;
};

TEST_F(BundleFile, IsUnpackedOnceUntilItChanges) {
  const std::string bundle = write({{"perf.data", "data"},
                                    {"usr/lib/x", "x"},
                                    {"bundle.json", R"({"bundle": 2, "checksums": {}})"}});
  const auto first = unpacked(bundle);
  ASSERT_TRUE(first) << first.error().one_line();
  std::ifstream file(*first + "/usr/lib/x");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "x");
  EXPECT_EQ(unpacked(bundle).value(), *first);
  EXPECT_EQ(unpacked_folders(), 1U);
  write({{"perf.data", "other data"}, {"bundle.json", R"({"bundle": 2, "checksums": {}})"}});
  EXPECT_NE(unpacked(bundle).value(), *first);
}

TEST_F(BundleFile, OtherPathsAreUnchanged) {
  EXPECT_EQ(unpacked("/no/such/file").value(), "/no/such/file");
  EXPECT_EQ(unpacked(folder_.string()).value(), folder_.string());
}

TEST_F(BundleFile, EntriesThatLeaveTheFolderAreRefused) {
  const fs::path outside = folder_ / "cache/ptlens/outside";
  for (const Entry& bad :
       {Entry{.name = "../../outside", .text = "x"}, Entry{.name = outside.string(), .text = "x"},
        Entry{.name = "a/../../../outside", .text = "x"},
        Entry{.name = "link", .link = "/etc/passwd"}}) {
    const auto done = unpacked(
        write({{"perf.data", "data"}, bad, {"bundle.json", R"({"bundle": 2, "checksums": {}})"}}));
    ASSERT_FALSE(done) << bad.name;
    EXPECT_EQ(done.error().kind, Error::Kind::bad_input);
    EXPECT_FALSE(fs::exists(outside));
    EXPECT_EQ(unpacked_folders(), 0U) << "nothing half unpacked is left";
  }
}

// XXH3 of "data", by the xxHash library itself.
constexpr const char* sum_of_data = "e4b7943fd57d5d1e";

TEST_F(BundleFile, AMemberWithAWrongChecksumIsReported) {
  const auto list = [](const std::string& sum) {
    return R"({"bundle": 2, "checksums": {"perf.data": ")" + sum + R"("}})";
  };
  EXPECT_TRUE(unpacked(write({{"perf.data", "data"}, {"bundle.json", list(sum_of_data)}})));
  for (const auto& [entries, said] :
       {std::pair(std::vector<Entry>{{"perf.data", "dat0"}, {"bundle.json", list(sum_of_data)}},
                  "perf.data is damaged"),
        std::pair(std::vector<Entry>{{"usr/x", "x"}, {"bundle.json", list(sum_of_data)}},
                  "perf.data is missing"),
        std::pair(std::vector<Entry>{{"perf.data", "data"}, {"bundle.json", R"({"bundle": 2})"}},
                  "no checksums"),
        std::pair(std::vector<Entry>{{"perf.data", "data"}, {"bundle.json", "no JSON"}},
                  "bundle.json is damaged"),
        std::pair(std::vector<Entry>{{"perf.data", "data"}, {"bundle.json", R"({"bundle": 9})"}},
                  "version 9")}) {
    const std::string bundle = write(entries);
    const auto done = unpacked(bundle);
    ASSERT_FALSE(done) << said;
    EXPECT_NE(done.error().one_line().find(said), std::string::npos) << done.error().one_line();
    EXPECT_NE(done.error().one_line().find(bundle), std::string::npos);
    EXPECT_EQ(unpacked_folders(), 1U) << "nothing of it is left";
  }
}

TEST_F(BundleFile, ReportsSourcesThatDoNotExistHere) {
  const std::string bundle =
      write({{"perf.data", "data"},
             {"bundle.json",
              R"({"bundle": 2, "checksums": {}, "source_root": "/build/of/another/machine"})"}});
  const auto note = absent_sources(bundle, {});
  ASSERT_TRUE(note.has_value());
  EXPECT_EQ(note->code, "absent_sources");
  EXPECT_NE(note->text.find("--source-map /build/of/another/machine="), std::string::npos);
  EXPECT_TRUE(absent_sources(bundle, {{.from = "/build/of", .to = folder_}}).has_value());
  fs::create_directories(folder_ / "another/machine");
  EXPECT_FALSE(absent_sources(bundle, {{.from = "/build/of", .to = folder_}}).has_value());
  EXPECT_FALSE(absent_sources(folder_, {}).has_value());
}

TEST_F(BundleFile, AnArchiveWithoutAListIsRefused) {
  const auto done = unpacked(write({{"perf.data", "data"}}));
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().one_line().find("bundle.json"), std::string::npos);
}

} // namespace
} // namespace ptlens::engine
