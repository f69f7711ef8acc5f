// Shared by the tests of the reader: opening of built files, and checks of refusals.
#pragma once

#include "perfdata/perf_data_builder.hpp"
#include "perfdata/recording.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <sys/mman.h>
#include <vector>

namespace ptlens::perfdata {

// The file may be removed once it is mapped.
inline Recording opened(const test::PerfDataBuilder& builder) {
  const test::TemporaryFile file(builder.build());
  auto recording = Recording::open(file.path());
  if (!recording) {
    throw std::runtime_error(recording.error().one_line());
  }
  return *std::move(recording);
}

inline Error refused(const test::PerfDataBuilder& builder) {
  const test::TemporaryFile file(builder.build());
  auto recording = Recording::open(file.path());
  if (recording) {
    throw std::runtime_error("the recording was accepted");
  }
  EXPECT_EQ(recording.error().file, file.path());
  EXPECT_FALSE(recording.error().remedy.empty());
  return recording.error();
}

inline std::vector<std::byte> some_bytes(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(count);
  std::ranges::generate(bytes, [&] { return static_cast<std::byte>(random() & 0xffU); });
  return bytes;
}

} // namespace ptlens::perfdata
