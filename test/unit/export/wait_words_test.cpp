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
  EXPECT_EQ(ended_by({.kind = Waker::Kind::thread,
                      .thread = "conn",
                      .process = "database",
                      .pid = 33,
                      .processes = 1}),
            "woken by thread `conn` of process `database` (33)");
  EXPECT_EQ(ended_by({.kind = Waker::Kind::thread,
                      .thread = "cat",
                      .process = "cat",
                      .pid = 33,
                      .processes = 1}),
            "woken by process `cat` (33)");
}

TEST(WakerText, CountsProcessesOfOneName) {
  EXPECT_EQ(ended_by({.kind = Waker::Kind::thread,
                      .thread = "cat",
                      .process = "cat",
                      .pid = 33,
                      .processes = 4}),
            "woken by 4 processes `cat`");
  EXPECT_EQ(ended_by({.kind = Waker::Kind::thread,
                      .thread = "conn",
                      .process = "database",
                      .pid = 33,
                      .processes = 2}),
            "woken by threads `conn` of 2 processes `database`");
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
