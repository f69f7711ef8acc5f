// How the sentences name who ended a wait.
#include "export/waits/wait_words.hpp"

#include <gtest/gtest.h>

namespace ptlens::exporting {
namespace {

using waits::Waker;

std::string ended_by(const measure::WakerRow& waker, waits::Reason reason = waits::Reason::pipe) {
  return waker_text({.reason = reason}, waker);
}

TEST(WakerText, NamesThreadAndProcess) {
  EXPECT_EQ(ended_by({.kind = Waker::Kind::thread, .thread = "feeder"}),
            "woken by thread `feeder`");
  EXPECT_EQ(ended_by({.kind = Waker::Kind::thread, .thread = "conn", .process = "database"}),
            "woken by thread `conn` of process `database`");
  EXPECT_EQ(ended_by({.kind = Waker::Kind::thread, .thread = "cat", .process = "cat"}),
            "woken by process `cat`");
}

TEST(WakerText, SaysWhatIsKnownOfAWakerWithoutAThread) {
  EXPECT_EQ(ended_by({.kind = Waker::Kind::interrupt, .interrupt = waits::Interrupt::disk}),
            "woken by an interrupt (disk)");
  EXPECT_EQ(ended_by({.kind = Waker::Kind::interrupt}), "woken by an interrupt");
  EXPECT_EQ(ended_by({.kind = Waker::Kind::outside}),
            "woken by an interrupt or by another process");
  EXPECT_EQ(ended_by({.kind = Waker::Kind::unknown}), "");
}

} // namespace
} // namespace ptlens::exporting
