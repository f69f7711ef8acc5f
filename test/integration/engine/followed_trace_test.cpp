// A recording that is decoded while it is written gives the same answers, byte for byte, as one
// that is decoded afterwards: wherever the writer is interrupted, whatever becomes of the file.
#include "engine/engine.hpp"
#include "engine/recording/followed_trace.hpp"
#include "export/calls.hpp"
#include "export/json/functions_json.hpp"
#include "export/json/report_json.hpp"
#include "measure/report/report.hpp"
#include "measure/selection/call_stream.hpp"
#include "support/run_command.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <linux/perf_event.h>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace ptlens::engine {
namespace {

namespace fs = std::filesystem;

const std::string simulator = PTLENS_BUILD_DIR "/ptsim/ptsim";
const std::string libc = "/lib/x86_64-linux-gnu/libc.so.6";

// Offsets in the header of perf.data, perf.data-file-format.txt: of the data section, and of the
// bits that say which features follow it.
constexpr std::size_t data_offset = 40;
constexpr std::size_t data_size = 48;
constexpr std::size_t feature_bits = 72;
constexpr std::size_t feature_bytes = 32;

std::uint64_t number_at(const std::string& bytes, std::size_t at) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

class FollowTrace : public testing::Test {
protected:
  void SetUp() override {
    if (!fs::exists(libc)) {
      GTEST_SKIP() << "the C library is not at " << libc;
    }
    std::string name = (fs::temp_directory_path() / "ptlens-follow-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    recording_ = folder_ / "recording";
    fs::create_directory(recording_);
  }
  void TearDown() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  static OpenOptions options(unsigned workers = 1) {
    OpenOptions options;
    options.workers = workers;
    options.segment_bytes = 16U << 10U;
    return options;
  }

  // Makes up a recording of some MB, and remembers it.
  void synthesise(const std::vector<std::string>& arguments) {
    std::vector<std::string> command = {simulator, "synth", "-o",          folder_ / "whole.data",
                                        "--bytes", "3mb",   "--aux-bytes", "128kb"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    command.insert(command.end(), {PTLENS_BUILD_DIR "/ptsim/ptsim", libc});
    ASSERT_EQ(test::run_command(command, {}, test::Stderr::discarded).status, 0);
    std::ifstream file(folder_ / "whole.data", std::ios::binary);
    whole_.assign(std::istreambuf_iterator<char>(file), {});
    begin_ = number_at(whole_, data_offset);
    end_ = begin_ + number_at(whole_, data_size);
    ASSERT_GT(end_ - begin_, 2U << 20U);
  }

  // Removes each record for which `wanted` returns true from the data, as if it came later.
  void remove_records(const std::function<bool(std::uint32_t type)>& wanted) {
    constexpr std::uint32_t auxtrace = 71; // PERF_RECORD_AUXTRACE, which trace bytes follow
    std::string kept = whole_.substr(0, begin_);
    for (std::uint64_t at = begin_; at < end_;) {
      std::uint32_t type = 0;
      std::uint16_t size = 0;
      std::memcpy(&type, whole_.data() + at, sizeof type);
      std::memcpy(&size, whole_.data() + at + 6, sizeof size);
      const std::uint64_t length = size + (type == auxtrace ? number_at(whole_, at + 8) : 0);
      if (!wanted(type)) {
        kept += whole_.substr(at, length);
      }
      at += length;
    }
    end_ = kept.size();
    whole_ = std::move(kept);
  }

  // Writes the file as perf has it before it ends.
  void begin_file() {
    std::string header = whole_.substr(0, begin_);
    std::memset(header.data() + data_size, 0, sizeof(std::uint64_t));
    std::memset(header.data() + feature_bits, 0, feature_bytes);
    std::ofstream(file(), std::ios::binary) << header;
    written_ = begin_;
  }
  void append_until(std::uint64_t until) {
    std::ofstream(file(), std::ios::binary | std::ios::app)
        .write(whole_.data() + written_, static_cast<std::streamsize>(until - written_));
    written_ = until;
  }
  void end_file() {
    append_until(whole_.size());
    std::fstream(file(), std::ios::binary | std::ios::in | std::ios::out)
        .write(whole_.data(), static_cast<std::streamsize>(begin_));
  }
  void change_byte(std::uint64_t at) {
    const auto changed = static_cast<char>(whole_[at] ^ 0x21);
    std::fstream(file(), std::ios::binary | std::ios::in | std::ios::out)
        .seekp(static_cast<std::streamoff>(at))
        .write(&changed, 1);
  }

  // Writes the data in pieces that end anywhere, and follows.
  std::shared_ptr<flow::DecodedAhead> follow(unsigned seed, std::uint64_t until,
                                             unsigned workers = 1) {
    begin_file();
    OpenOptions following = options(workers);
    following.read = read_;
    FollowedTrace followed(recording_, following);
    std::mt19937 random(seed);
    while (written_ < until) {
      const std::uint64_t step = random() % (300U << 10U) + 1;
      append_until(std::min(until, written_ + step));
      followed.go_on([this](const std::string& path) { read_->read(path); }, [] { return false; });
    }
    return followed.take();
  }

  // Returns everything that the commands functions, report and calls print as JSON.
  std::string answers(const OpenOptions& options) {
    const auto measured = open(recording_, options, {});
    if (!measured) {
      return measured.error().one_line();
    }
    const measure::Measurement& measurement = **measured;
    const auto rows = measure::functions(measurement);
    std::ostringstream text;
    text << exporting::dump(exporting::functions_json(measurement, rows)) << '\n';
    for (std::size_t row = 0; row < rows.size(); row += 1 + rows.size() / 20) {
      text << exporting::dump(exporting::report_json(
                  measurement, measure::report(measurement, rows[row].function, {})))
           << '\n';
    }
    std::vector<stacks::FunctionId> some_functions; // all calls would be 100 MB of text
    for (const measure::FunctionRow& row : rows) {
      const std::uint64_t calls = row.complete + row.incomplete + row.unwound;
      if (calls < 1000 && some_functions.size() < 20) {
        some_functions.push_back(row.function);
      }
    }
    measure::CallStream stream(measurement, some_functions, {});
    while (const auto some = stream.next()) {
      exporting::write_calls_json_lines(text, measurement, *some, true);
    }
    return std::move(text).str();
  }

  std::string answers_ahead(std::shared_ptr<flow::DecodedAhead> decoded, unsigned workers) {
    OpenOptions with = options(workers);
    with.read = read_;
    with.ahead = std::move(decoded);
    return answers(with);
  }

  [[nodiscard]] fs::path file() const { return recording_ / "perf.data"; }

  fs::path folder_;
  fs::path recording_;
  std::string whole_;
  std::uint64_t begin_ = 0; // of the data
  std::uint64_t end_ = 0;
  std::uint64_t written_ = 0;
  std::shared_ptr<symbols::ReadBinaries> read_ = std::make_shared<symbols::ReadBinaries>();
};

class FollowEveryKind : public FollowTrace,
                        public testing::WithParamInterface<std::vector<std::string>> {};

TEST_P(FollowEveryKind, GivesTheSameAnswers) {
  synthesise(GetParam());
  for (const unsigned workers : {1U, 2U}) {
    const auto decoded = follow(workers, end_, workers);
    end_file();
    const std::uint64_t done = decoded->bytes_done();
    EXPECT_GT(done, 1U << 20U);
    const std::string ahead = answers_ahead(decoded, workers);
    EXPECT_GT(decoded->bytes_used(), done / 2);
    const std::string afterwards = answers(options(workers));
    EXPECT_GT(afterwards.size(), 100'000U);
    EXPECT_TRUE(ahead == afterwards) << "with " << workers << " workers";
  }
}

INSTANTIATE_TEST_SUITE_P(
    , FollowEveryKind,
    testing::Values(
        std::vector<std::string>{"--seed", "1", "--cyc", "--threads", "1", "--cpus", "1"},
        std::vector<std::string>{"--seed", "2", "--cyc", "--threads", "3", "--cpus", "2"},
        std::vector<std::string>{"--seed", "3", "--cyc", "--threads", "2", "--per-thread"},
        std::vector<std::string>{"--seed", "4", "--no-cyc", "--threads", "3", "--cpus", "2"},
        std::vector<std::string>{"--seed", "5", "--cyc", "--threads", "2", "--cpus", "2",
                                 "--unwind", "0.02", "--syscalls-every", "20"}));

TEST_F(FollowTrace, GivesTheSameAnswersWithLosses) {
  for (const char* const fault : {"ovf:every=20000", "truncate:every=20000", "cut:every=100000",
                                  "no-pgd:every=5000", "lost-sideband:every=50"}) {
    synthesise({"--seed", "10", "--cyc", "--threads", "3", "--cpus", "2", "--fault", fault});
    const auto decoded = follow(3, end_);
    end_file();
    const std::string ahead = answers_ahead(decoded, 1);
    EXPECT_TRUE(ahead == answers(options())) << fault;
  }
}

TEST_F(FollowTrace, IgnoresWhatIsNotInTheFileInTheEnd) {
  synthesise({"--seed", "6", "--cyc", "--threads", "3", "--cpus", "2"});
  const auto decoded = follow(1, end_);
  ASSERT_GT(decoded->bytes_done(), 1U << 20U);
  fs::resize_file(file(), begin_ + (end_ - begin_) / 2); // as if perf was killed then
  const std::string ahead = answers_ahead(decoded, 1);
  const std::string afterwards = answers(options());
  EXPECT_GT(afterwards.size(), 100'000U);
  EXPECT_TRUE(ahead == afterwards);
}

TEST_F(FollowTrace, IgnoresAnotherRecording) {
  synthesise({"--seed", "7", "--cyc", "--threads", "2", "--cpus", "2"});
  const auto decoded = follow(1, end_);
  ASSERT_GT(decoded->bytes_done(), 1U << 20U);
  synthesise({"--seed", "8", "--cyc", "--threads", "2", "--cpus", "2"});
  fs::copy_file(folder_ / "whole.data", file(), fs::copy_options::overwrite_existing);
  const std::string ahead = answers_ahead(decoded, 1);
  EXPECT_EQ(decoded->bytes_used(), 0U);
  EXPECT_TRUE(ahead == answers(options()));
}

// What was decoded without a switch or a mapping that the file has in the end is decoded again.
// Each switch has two records, which say the same.
TEST_F(FollowTrace, IgnoresWhatLateRecordsChange) {
  for (const std::uint32_t late :
       {std::uint32_t{PERF_RECORD_SWITCH_CPU_WIDE}, std::uint32_t{PERF_RECORD_MMAP2}}) {
    synthesise({"--seed", "12", "--cyc", "--threads", "3", "--cpus", "2", "--slice", "30"});
    const std::string whole = whole_;
    std::uint32_t seen = 0;
    remove_records([&](std::uint32_t type) {
      return type == late && (late == PERF_RECORD_MMAP2 ? ++seen == 2 : ++seen / 4 % 3 == 0);
    });
    ASSERT_GE(seen, 2U);
    const auto decoded = follow(1, end_);
    ASSERT_GT(decoded->bytes_done(), 1U << 20U);
    std::ofstream(file(), std::ios::binary) << whole;
    const std::string ahead = answers_ahead(decoded, 1);
    EXPECT_TRUE(ahead == answers(options())) << "record type " << late;
  }
}

// A changed byte of the trace, of a switch or of a mapping counts, wherever it is.
TEST_F(FollowTrace, IgnoresWhatWasChanged) {
  synthesise({"--seed", "9", "--cyc", "--threads", "2", "--cpus", "2"});
  std::mt19937 random(1);
  for (int change = 0; change < 6; ++change) {
    const auto decoded = follow(1, end_);
    end_file();
    // Half of the changes are near the beginning, where the side-band is dense.
    const std::uint64_t range = change % 2 == 0 ? end_ - begin_ : 8192;
    const std::uint64_t at = begin_ + random() % range;
    change_byte(at);
    const std::string ahead = answers_ahead(decoded, 1);
    EXPECT_TRUE(ahead == answers(options())) << "byte " << at;
  }
}

} // namespace
} // namespace ptlens::engine
