// perf script's text and the walk's tables.
#include "synth_harness.hpp"

#include "harness.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ptlens::ptsim::synth::testing {
namespace {

std::vector<std::string> words_of(const std::string& line) {
  std::stringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    words.push_back(word);
  }
  return words;
}

std::uint64_t hex(const std::string& text) {
  return std::strtoull(text.c_str(), nullptr, 16);
}

} // namespace

std::vector<std::string> walked_binaries() {
  std::vector<std::string> binaries{WALKED_PROGRAM};
  for (const char* library :
       {"/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
        "/lib64/libc.so.6", "/usr/lib64/libstdc++.so.6"}) {
    std::error_code ignored;
    const bool known = std::ranges::any_of(binaries, [&](const std::string& other) {
      return std::filesystem::path(other).filename() == std::filesystem::path(library).filename();
    });
    if (!known && std::filesystem::exists(library, ignored)) {
      binaries.emplace_back(library);
    }
  }
  return binaries;
}

const CodeGraph& walked_graph() {
  static const CodeGraph graph = [] {
    auto read = CodeGraph::read(walked_binaries(), SynthOptions().functions);
    EXPECT_TRUE(read) << read.error().one_line();
    return read ? std::move(*read) : CodeGraph();
  }();
  return graph;
}

TransfersByThread decoded_by_perf(const std::string& recording) {
  const auto output = ptsim::testing::run(
      {"perf", "script", "-f", "-i", recording, "--itrace=cr", "-F", "tid,ip,addr,flags"});
  EXPECT_EQ(output.status, 0) << output.err;
  TransfersByThread transfers;
  std::stringstream text(output.out);
  for (std::string line; std::getline(text, line);) {
    const std::vector<std::string> words = words_of(line); // tid, flag, from, "=>", to
    if (words.size() == 5 && words[3] == "=>" && (words[1] == "call" || words[1] == "return")) {
      transfers[std::stol(words[0])].push_back({hex(words[2]), hex(words[4]), words[1] == "call"});
    }
  }
  return transfers;
}

TransfersByThread written_down(const std::string& branches) {
  TransfersByThread transfers;
  std::ifstream file(branches);
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> words = words_of(line); // tid, from, to, kind
    if (words.size() == 4 && (words[3] == "call" || words[3] == "return")) {
      transfers[std::stol(words[0])].push_back({hex(words[1]), hex(words[2]), words[3] == "call"});
    }
  }
  return transfers;
}

std::vector<std::string> errors_by_perf(const std::string& recording,
                                        const std::vector<std::string>& expected) {
  const auto output = ptsim::testing::run({"perf", "script", "-f", "-i", recording, "--itrace=e"});
  std::vector<std::string> errors;
  std::stringstream text(output.out + output.err);
  for (std::string line; std::getline(text, line);) {
    const bool known = std::ranges::any_of(
        expected, [&](const std::string& word) { return line.find(word) != std::string::npos; });
    if (line.find("instruction trace error type") != std::string::npos && !known) {
      errors.push_back(line);
    }
  }
  return errors;
}

std::string difference(const TransfersByThread& one, const TransfersByThread& other) {
  for (const auto& [tid, transfers] : one) {
    const auto same = other.find(tid);
    const std::vector<Transfer> none;
    const std::vector<Transfer>& theirs = same == other.end() ? none : same->second;
    const auto [at, there] = std::ranges::mismatch(transfers, theirs);
    if (at != transfers.end() || there != theirs.end()) {
      return fmt::format("thread {}: {} and {} transfers, the first {} are equal", tid,
                         transfers.size(), theirs.size(), at - transfers.begin());
    }
  }
  return one.size() == other.size() ? ""
                                    : fmt::format("{} and {} threads", one.size(), other.size());
}

std::string command_for(const std::vector<std::string>& arguments) {
  return fmt::format("{} synth {} {}", PTSIM, fmt::join(arguments, " "),
                     fmt::join(walked_binaries(), " "));
}

SynthOptions options_of(const std::vector<std::string>& arguments) {
  std::vector<std::string> all{"ptsim", "synth"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const std::vector<std::string> binaries = walked_binaries();
  all.insert(all.end(), binaries.begin(), binaries.end());
  auto options = parse_synth_options(all);
  EXPECT_TRUE(options) << options.error().one_line();
  return options ? std::move(*options) : SynthOptions{};
}

} // namespace ptlens::ptsim::synth::testing
