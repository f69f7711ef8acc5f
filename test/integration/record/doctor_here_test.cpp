// The doctor on this machine. Tests bring the machine into a condition (other users, namespaces,
// mounts), follow the advice where that is possible, and ask the doctor again.
#include "record/finding_of.hpp"
#include "record/machine/doctor.hpp"
#include "record/machine/findings.hpp"
#include "record_test_support.hpp"

#include <algorithm>
#include <sched.h>
#include <sstream>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

namespace ptlens::record::test {
namespace {

using State = Finding::State;
constexpr unsigned nobody = 65534;

TEST(DoctorSoftware, StrippedBinaries) {
  const ProgramFolder folder;
  const std::string program = folder.compile("program", "int main() { return 0; }\n");
  const auto look = [&program] { return finding_of(diagnose({.binary = program}), "debug_info"); };
  EXPECT_EQ(look().state, State::fine);
  ASSERT_TRUE(run({find_program("strip"), "-g", program}, std::chrono::seconds(30)));
  EXPECT_EQ(look().state, State::limited);
  ASSERT_TRUE(run({find_program("strip"), "-s", program}, std::chrono::seconds(30)));
  EXPECT_NE(look().state, State::fine);
  EXPECT_NE(look().remedy.find("-g"), std::string::npos);
  std::ofstream(program, std::ios::trunc) << "no ELF file";
  EXPECT_EQ(look().state, State::missing);
}

TEST(Doctor, MatchesThisMachine) {
  const ProgramFolder folder;
  const std::string program = folder.compile("program", "int main() {}\n");
  const Diagnosis diagnosis = diagnose({.binary = program});
  for (const Finding& finding : diagnosis.findings) {
    EXPECT_FALSE(finding.title.empty()) << finding.id;
    EXPECT_FALSE(finding.detail.empty()) << finding.id;
    EXPECT_EQ(finding.remedy.empty(), finding.state == Finding::State::fine) << finding.id;
  }
  const auto state = [&diagnosis](std::string_view id) {
    return std::ranges::find(diagnosis.findings, id, &Finding::id)->state;
  };
  EXPECT_EQ(state("intel_pt") == Finding::State::missing,
            !std::filesystem::exists("/sys/bus/event_source/devices/intel_pt"));
  EXPECT_EQ(state("perf") == Finding::State::fine, !find_program("perf").empty());
  EXPECT_EQ(state("debug_info"), Finding::State::fine);
  if (why_no_probes().empty()) {
    EXPECT_NE(diagnosis.backend, "none");
  }
  const Diagnosis without = diagnose({.perf = "/no/such/perf"});
  EXPECT_EQ(without.backend, find_program("uftrace").empty() ? "none" : "uftrace");
}

// Runs `prepare` and the doctor in a child, which can change its user and namespaces. Returns the
// diagnosis of the child.
Diagnosis diagnose_elsewhere(const std::function<bool()>& prepare, const Checkup& checkup) {
  const ProgramFolder folder;
  const std::string file = folder / "found";
  std::ofstream(file).close();
  std::filesystem::permissions(folder / "", std::filesystem::perms::all);
  std::filesystem::permissions(file, std::filesystem::perms::all);
  const pid_t child = ::fork();
  if (child == 0) {
    if (!prepare()) {
      ::_exit(1);
    }
    const Diagnosis diagnosis = diagnose(checkup);
    std::ofstream output(file);
    output << diagnosis.backend << '\n';
    for (const Finding& finding : diagnosis.findings) {
      output << finding.id << '\x1f' << static_cast<int>(finding.state) << '\x1f' << finding.detail
             << '\x1f' << finding.temporary << '\x1f' << finding.permanent << '\n';
    }
    output.close();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << "the condition could not be created";
  Diagnosis diagnosis;
  std::ifstream input(file);
  std::getline(input, diagnosis.backend);
  for (std::string line; std::getline(input, line);) {
    std::istringstream fields(line);
    Finding finding;
    std::string state;
    std::getline(fields, finding.id, '\x1f');
    std::getline(fields, state, '\x1f');
    std::getline(fields, finding.detail, '\x1f');
    std::getline(fields, finding.temporary, '\x1f');
    std::getline(fields, finding.permanent, '\x1f');
    finding.state = static_cast<State>(std::atoi(state.c_str()));
    diagnosis.findings.push_back(finding);
  }
  return diagnosis;
}

bool become_nobody() {
  return ::setgid(nobody) == 0 && ::setuid(nobody) == 0;
}

// Runs a command that the doctor advises, without its sudo and without a shell.
bool follow(std::string_view advice) {
  std::vector<std::string> words;
  std::istringstream text{std::string(advice)};
  for (std::string word; text >> word;) {
    words.push_back(word);
  }
  if (words.size() < 2 || words.front() != "sudo") {
    return false;
  }
  words.erase(words.begin());
  words.front() = find_program(words.front());
  return !words.front().empty() && run(words, std::chrono::seconds(30)).has_value();
}

// Requires root.
class DoctorHere : public ::testing::Test {
protected:
  void SetUp() override {
    if (!read_machine("").rights.root) {
      GTEST_SKIP() << "needs root";
    }
  }
};

TEST_F(DoctorHere, AnOrdinaryUserFollowsTheAdvice) {
  const std::string setting = "/proc/sys/kernel/perf_event_paranoid";
  const std::string before = read_text(setting).value_or("");
  if (::access(setting.c_str(), W_OK) != 0 || find_program("sysctl").empty()) {
    GTEST_SKIP() << "kernel settings cannot be changed here";
  }
  std::ofstream(setting) << "3\n";
  const Finding strict = finding_of(diagnose_elsewhere(become_nobody, {}), "paranoid");
  EXPECT_EQ(strict.state, State::missing);
  EXPECT_TRUE(follow(strict.temporary)) << strict.temporary;
  const Finding fixed = finding_of(diagnose_elsewhere(become_nobody, {}), "paranoid");
  EXPECT_EQ(fixed.state, State::limited);
  EXPECT_EQ(fixed.detail, "2");
  std::ofstream(setting) << before;
}

TEST_F(DoctorHere, AnOrdinaryUserHasNoProbes) {
  const Diagnosis diagnosis = diagnose_elsewhere(become_nobody, {});
  EXPECT_EQ(finding_of(diagnosis, "rights").state, State::limited);
  EXPECT_EQ(finding_of(diagnosis, "uprobes").state, State::missing);
  EXPECT_NE(diagnosis.backend, "uprobe");
}

TEST_F(DoctorHere, CapabilitiesOfPerf) {
  const ProgramFolder folder;
  std::filesystem::permissions(folder / "", std::filesystem::perms::all);
  const std::string perf = folder / "perf";
  std::filesystem::copy_file("/bin/true", perf); // a program whose capabilities may be set
  const Checkup checkup{.perf = perf};
  const Finding none = finding_of(diagnose_elsewhere(become_nobody, checkup), "perf_rights");
  EXPECT_EQ(none.state, State::limited);
  EXPECT_EQ(none.permanent, "sudo setcap cap_perfmon,cap_sys_ptrace,cap_syslog,cap_ipc_lock+ep "
                            "$(readlink -f " +
                                perf + ")");
  if (find_program("setcap").empty() ||
      !run({find_program("setcap"), "cap_perfmon,cap_sys_ptrace,cap_syslog,cap_ipc_lock+ep", perf},
           std::chrono::seconds(30)) ||
      !file_rights(perf).perfmon) {
    GTEST_SKIP() << "files cannot have capabilities here";
  }
  const Diagnosis fixed = diagnose_elsewhere(become_nobody, checkup);
  EXPECT_EQ(finding_of(fixed, "perf_rights").state, State::fine);
  EXPECT_EQ(finding_of(fixed, "rights").state, State::fine);
  EXPECT_EQ(finding_of(fixed, "paranoid").state, State::fine);
  EXPECT_EQ(finding_of(fixed, "mlock").state, State::fine);
}

TEST_F(DoctorHere, RootOfANewUserNamespace) {
  const auto own_users = [] {
    if (::unshare(CLONE_NEWUSER) != 0) {
      return false;
    }
    std::ofstream("/proc/self/uid_map") << "0 0 1";
    return ::geteuid() == 0;
  };
  const pid_t able = ::fork();
  if (able == 0) {
    ::_exit(own_users() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(able, &status, 0);
  if (status != 0) {
    GTEST_SKIP() << "user namespaces cannot be created here";
  }
  const Diagnosis diagnosis = diagnose_elsewhere(own_users, {});
  EXPECT_NE(finding_of(diagnosis, "rights").detail.find("without root's capabilities"),
            std::string::npos);
  EXPECT_EQ(finding_of(diagnosis, "uprobes").state, State::missing);
}

bool own_mounts() {
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

TEST_F(DoctorHere, TheAdviceRemountsReadOnlyTracefs) {
  const std::string tracefs = read_machine("").tracefs;
  if (tracefs.empty()) {
    GTEST_SKIP() << "tracefs is not mounted";
  }
  const auto read_only = [&tracefs] {
    return own_mounts() && ::mount(nullptr, tracefs.c_str(), nullptr,
                                   MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) == 0;
  };
  const Diagnosis before = diagnose_elsewhere(read_only, {});
  const Finding found = finding_of(before, "tracefs");
  EXPECT_EQ(found.state, State::missing);
  EXPECT_EQ(found.detail, tracefs + " is mounted read-only");
  EXPECT_EQ(finding_of(before, "uprobes").state, State::missing);
  const auto fixed = [&] { return read_only() && follow(found.temporary); };
  EXPECT_EQ(finding_of(diagnose_elsewhere(fixed, {}), "tracefs").state, State::fine);
}

TEST_F(DoctorHere, TheAdviceMountsTracefs) {
  const std::string tracefs = read_machine("").tracefs;
  if (tracefs != "/sys/kernel/tracing") {
    GTEST_SKIP() << "tracefs is not mounted at /sys/kernel/tracing";
  }
  const auto unmounted = [&] {
    if (!own_mounts()) {
      return false;
    }
    ::umount2("/sys/kernel/debug/tracing", MNT_DETACH);
    return ::umount2(tracefs.c_str(), MNT_DETACH) == 0;
  };
  const Finding found = finding_of(diagnose_elsewhere(unmounted, {}), "tracefs");
  EXPECT_EQ(found.state, State::missing);
  const auto fixed = [&] { return unmounted() && follow(found.temporary); };
  EXPECT_EQ(finding_of(diagnose_elsewhere(fixed, {}), "tracefs").state, State::fine);
}

TEST_F(DoctorHere, LittleDiskSpace) {
  const ProgramFolder folder;
  const auto small = [&folder](const char* size) {
    return [&folder, size] {
      return own_mounts() && ::mount("none", (folder / "").c_str(), "tmpfs", 0, size) == 0;
    };
  };
  const Checkup checkup{.folder = folder / ""};
  EXPECT_EQ(finding_of(diagnose_elsewhere(small("size=32m"), checkup), "disk").state,
            State::missing);
  EXPECT_EQ(finding_of(diagnose_elsewhere(small("size=512m"), checkup), "disk").state,
            State::limited);
  EXPECT_EQ(finding_of(diagnose({.folder = "/no/such/folder"}), "disk").state, State::limited);
}

} // namespace
} // namespace ptlens::record::test
