// Cancellation asks the innermost progress of the thread.
#include "base/cancellation.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace ptlens {
namespace {

TEST(Cancellation, BelongsToTheInnermostProgressOfTheThread) {
  EXPECT_FALSE(cancel_asked());
  Progress outer;
  Progress inner;
  const Cancellable outer_scope(outer);
  EXPECT_FALSE(cancel_asked());
  outer.cancel();
  EXPECT_TRUE(cancel_asked());
  {
    const Cancellable inner_scope(inner);
    EXPECT_FALSE(cancel_asked());
    inner.cancel();
    EXPECT_TRUE(cancel_asked());
  }
  bool elsewhere = true;
  std::thread([&] { elsewhere = cancel_asked(); }).join();
  EXPECT_FALSE(elsewhere);
}

} // namespace
} // namespace ptlens
