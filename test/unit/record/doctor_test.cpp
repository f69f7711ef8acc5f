// Each finding of the doctor under the condition that it is about: made up in the files of another
// machine, or real where this one can be brought into it (other users, namespaces, mounts). Advice
// that can be followed here is followed, and looked at again.
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

Finding finding_of(const Diagnosis& diagnosis, std::string_view id) {
  const auto found = std::ranges::find(diagnosis.findings, id, &Finding::id);
  return found == diagnosis.findings.end() ? Finding{.id = "absent"} : *found;
}

// The files of a machine: an Intel processor with Processor Trace, an ordinary user, the kernel's
// default settings. Tests change what they are about.
class FakeMachine {
public:
  FakeMachine() {
    set("proc/cpuinfo", "vendor_id\t: GenuineIntel\nmodel name\t: Fake 9000\nflags\t\t: fpu tsc\n");
    set("proc/self/status", "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\n");
    set("proc/self/uid_map", "         0          0 4294967295\n");
    set("proc/sys/kernel/perf_event_paranoid", "2\n");
    set("proc/sys/kernel/perf_event_mlock_kb", "516\n");
    set("proc/sys/kernel/kptr_restrict", "0\n");
    set("sys/kernel/tracing/events/enable", "0\n");
    set("sys/kernel/tracing/uprobe_events", "");
    for (const auto& [name, value] :
         std::map<std::string, std::string>{{"psb_cyc", "1"},
                                            {"mtc", "1"},
                                            {"mtc_periods", "249"},
                                            {"psb_periods", "3f"},
                                            {"ip_filtering", "1"},
                                            {"num_address_ranges", "2"}}) {
      set("sys/bus/event_source/devices/intel_pt/caps/" + name, value + "\n");
    }
  }

  void set(const std::string& path, std::string_view text) const {
    const std::filesystem::path file = folder_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  void remove(const std::string& path) const { std::filesystem::remove_all(folder_ / path); }
  void become_root() const {
    set("proc/self/status", "Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n");
  }
  [[nodiscard]] Diagnosis diagnosis(const Words& say = {}) const {
    return diagnose({.root = folder_ / "", .say = say});
  }
  [[nodiscard]] Finding operator[](std::string_view id) const {
    return finding_of(diagnosis(), id);
  }

private:
  TemporaryFolder folder_{"ptlens-doctor"};
};

constexpr const char* device = "sys/bus/event_source/devices/intel_pt";

TEST(DoctorHardware, AnIntelProcessorWithTrace) {
  const FakeMachine machine;
  const Diagnosis diagnosis = machine.diagnosis();
  for (const char* id :
       {"intel_pt", "timing_packets", "address_filters", "virtual_machine", "container"}) {
    EXPECT_EQ(finding_of(diagnosis, id).state, State::fine) << id;
  }
  EXPECT_EQ(finding_of(diagnosis, "intel_pt").detail, "Fake 9000: the device intel_pt is there");
  EXPECT_EQ(finding_of(diagnosis, "address_filters").detail, "2 ranges");
  EXPECT_EQ(diagnosis.backend, find_program("perf").empty() ? "none" : "intel_pt");
}

TEST(DoctorHardware, SpeaksTheLanguageAskedForAndLeavesCommands) {
  const FakeMachine machine;
  machine.set("proc/cpuinfo",
              "vendor_id\t: GenuineIntel\nmodel name\t: Fake 9000\nflags\t\t: fpu\n");
  machine.set("proc/sys/kernel/perf_event_paranoid", "4\n");
  const Words russian(
      {{"Address filters", "Фильтры адресов"},
       {"{0} ranges", "диапазонов: {0}"},
       {"trace one function alone, for a fifth of the data or less", "одна функция"},
       {"{0}: the device intel_pt is there", "есть intel_pt: {0}"},
       {"sudo sysctl kernel.perf_event_paranoid=2", "never"}});
  const Diagnosis english = machine.diagnosis();
  const Diagnosis translated = machine.diagnosis(russian);
  EXPECT_EQ(finding_of(translated, "address_filters").title, "Фильтры адресов");
  EXPECT_EQ(finding_of(translated, "address_filters").detail, "диапазонов: 2");
  EXPECT_EQ(finding_of(translated, "address_filters").why, "одна функция");
  EXPECT_EQ(finding_of(translated, "intel_pt").detail, "есть intel_pt: Fake 9000");
  EXPECT_EQ(finding_of(translated, "paranoid").temporary,
            "sudo sysctl kernel.perf_event_paranoid=2");
  EXPECT_EQ(translated.backend, english.backend);
  ASSERT_EQ(translated.findings.size(), english.findings.size());
  for (std::size_t i = 0; i < english.findings.size(); ++i) {
    EXPECT_EQ(translated.findings[i].id, english.findings[i].id);
    EXPECT_EQ(translated.findings[i].state, english.findings[i].state);
    EXPECT_EQ(translated.findings[i].temporary, english.findings[i].temporary);
    EXPECT_EQ(translated.findings[i].permanent, english.findings[i].permanent);
  }
}

TEST(DoctorHardware, SaysWhyThereIsNoTrace) {
  const FakeMachine machine;
  machine.remove(device);
  EXPECT_NE(machine["intel_pt"].remedy.find("firmware"), std::string::npos);
  EXPECT_EQ(machine["timing_packets"].id, "absent");

  machine.set("proc/cpuinfo", "vendor_id\t: GenuineIntel\nflags\t\t: fpu intel_pt tsc\n");
  EXPECT_NE(machine["intel_pt"].temporary.find("pt_mode=0"), std::string::npos);

  machine.set("proc/cpuinfo", "vendor_id\t: GenuineIntel\nflags\t\t: fpu hypervisor\n");
  EXPECT_NE(machine["intel_pt"].temporary.find("kvm_intel pt_mode=1"), std::string::npos);
  EXPECT_NE(machine["intel_pt"].permanent.find("/etc/modprobe.d/"), std::string::npos);

  machine.set("proc/cpuinfo", "vendor_id\t: AuthenticAMD\nmodel name\t: Zen\nflags\t\t: fpu\n");
  const Finding amd = machine["intel_pt"];
  EXPECT_EQ(amd.state, State::missing);
  EXPECT_EQ(amd.detail, "Zen: no device intel_pt");
  EXPECT_NE(amd.remedy.find("use an Intel processor"), std::string::npos);
  EXPECT_EQ(amd.temporary, "");
}

TEST(DoctorHardware, SaysWhichPacketsAreLacking) {
  const FakeMachine machine;
  machine.set(std::string(device) + "/caps/psb_cyc", "0\n");
  EXPECT_EQ(machine["timing_packets"].state, State::limited);
  machine.set(std::string(device) + "/caps/mtc", "0\n");
  EXPECT_EQ(machine["timing_packets"].state, State::missing);
  EXPECT_EQ(machine["timing_packets"].detail,
            "cycle packets no, crystal packets no (periods 0x249), distances of synchronisation "
            "0x3f");
}

TEST(DoctorHardware, AddressFiltersTakeProcessorAndKernel) {
  const FakeMachine machine;
  machine.set(std::string(device) + "/nr_addr_filters", "1\n");
  EXPECT_EQ(machine["address_filters"].detail, "1 ranges");
  machine.set(std::string(device) + "/caps/ip_filtering", "0\n");
  EXPECT_EQ(machine["address_filters"].state, State::limited);
  EXPECT_EQ(machine["address_filters"].detail, "0 ranges");
}

TEST(DoctorHardware, NamesTheHypervisor) {
  const FakeMachine machine;
  machine.set("proc/cpuinfo", "flags\t\t: fpu hypervisor tsc\n");
  machine.set("sys/class/dmi/id/sys_vendor", "QEMU\n");
  EXPECT_EQ(machine["virtual_machine"].state, State::limited);
  EXPECT_EQ(machine["virtual_machine"].detail, "runs under a hypervisor of QEMU");
}

TEST(DoctorHardware, KnowsContainersByTheirTraces) {
  for (const auto& [file, text] : std::map<std::string, std::string>{
           {".dockerenv", ""},
           {"run/.containerenv", ""},
           {"proc/1/cgroup", "0::/kubepods/besteffort/pod1\n"},
           {"proc/1/environ", std::string("A=b\0container=lxc\0", 18)}}) {
    const FakeMachine machine;
    EXPECT_EQ(machine["container"].state, State::fine);
    machine.set(file, text);
    EXPECT_EQ(machine["container"].state, State::limited) << file;
    EXPECT_NE(machine["container"].temporary.find("--pid=host"), std::string::npos);
  }
}

TEST(DoctorRights, ParanoidLevels) {
  const FakeMachine machine;
  const std::map<int, State> expected = {{-1, State::fine},   {0, State::fine},
                                         {1, State::limited}, {2, State::limited},
                                         {3, State::missing}, {4, State::missing}};
  for (const auto& [level, state] : expected) {
    machine.set("proc/sys/kernel/perf_event_paranoid", std::to_string(level) + "\n");
    EXPECT_EQ(machine["paranoid"].state, state) << level;
  }
  const Finding strict = machine["paranoid"];
  EXPECT_EQ(strict.temporary, "sudo sysctl kernel.perf_event_paranoid=2");
  EXPECT_EQ(strict.permanent, "echo 'kernel.perf_event_paranoid = 2' | sudo tee "
                              "/etc/sysctl.d/90-ptlens-perf_event_paranoid.conf");
  EXPECT_EQ(machine.diagnosis().backend, "none");
  machine.become_root();
  EXPECT_EQ(machine["paranoid"].state, State::fine);
  machine.remove("proc/sys/kernel/perf_event_paranoid");
  EXPECT_EQ(machine["paranoid"].state, State::missing);
  EXPECT_NE(machine["paranoid"].remedy.find("CONFIG_PERF_EVENTS"), std::string::npos);
}

TEST(DoctorRights, HiddenKernelAddresses) {
  const FakeMachine machine;
  machine.set("proc/sys/kernel/kptr_restrict", "1\n");
  EXPECT_EQ(machine["kptr"].temporary, "sudo sysctl kernel.kptr_restrict=0");
  machine.become_root();
  EXPECT_EQ(machine["kptr"].state, State::fine);
  machine.set("proc/sys/kernel/kptr_restrict", "2\n");
  EXPECT_EQ(machine["kptr"].temporary, "sudo sysctl kernel.kptr_restrict=1");
}

TEST(DoctorRights, AttachingToProcesses) {
  const FakeMachine machine;
  EXPECT_EQ(machine["ptrace_scope"].state, State::fine); // no Yama
  machine.set("proc/sys/kernel/yama/ptrace_scope", "1\n");
  EXPECT_EQ(machine["ptrace_scope"].temporary, "sudo sysctl kernel.yama.ptrace_scope=0");
  machine.set("proc/sys/kernel/yama/ptrace_scope", "3\n"); // can only be set back by a start
  EXPECT_EQ(machine["ptrace_scope"].temporary, "");
  EXPECT_NE(machine["ptrace_scope"].permanent.find("ptrace_scope = 0"), std::string::npos);
  machine.become_root();
  EXPECT_EQ(machine["ptrace_scope"].state, State::fine);
}

TEST(DoctorRights, SmallBuffers) {
  const FakeMachine machine;
  EXPECT_EQ(machine["mlock"].state, State::limited);
  EXPECT_EQ(machine["mlock"].temporary, "sudo sysctl kernel.perf_event_mlock_kb=8192");
  machine.set("proc/sys/kernel/perf_event_mlock_kb", "8192\n");
  EXPECT_EQ(machine["mlock"].state, State::fine);
}

TEST(DoctorRights, Lockdown) {
  const FakeMachine machine;
  EXPECT_EQ(machine["lockdown"].id, "absent");
  machine.set("sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
  EXPECT_EQ(machine["lockdown"].id, "absent");
  machine.set("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  EXPECT_EQ(machine["lockdown"].state, State::limited);
  machine.set("sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
  EXPECT_EQ(machine["lockdown"].state, State::missing);
  EXPECT_EQ(machine.diagnosis().backend, "none");
}

TEST(DoctorRights, RootOfAUserNamespaceIsRootByNameAlone) {
  const FakeMachine machine;
  machine.become_root();
  EXPECT_EQ(machine["rights"].detail, "root");
  machine.set("proc/self/uid_map", "         0       1000          1\n");
  EXPECT_EQ(machine["rights"].state, State::limited);
  EXPECT_NE(machine["rights"].detail.find("by name alone"), std::string::npos);
  EXPECT_EQ(machine["paranoid"].state, State::limited); // and so bound by it
  machine.set("proc/self/uid_map", "         0          0 4294967295\n");
  machine.set("proc/self/status", "Uid:\t0\t0\t0\t0\nCapEff:\t00000000a80425fb\n"); // Docker's
  EXPECT_NE(machine["rights"].detail.find("by name alone"), std::string::npos);
}

TEST(DoctorSoftware, KernelsWithoutProbes) {
  const FakeMachine machine;
  machine.become_root();
  EXPECT_EQ(machine["uprobes"].state, State::fine);
  machine.remove("sys/kernel/tracing/uprobe_events");
  EXPECT_NE(machine["uprobes"].remedy.find("CONFIG_UPROBE_EVENTS=y"), std::string::npos);
  machine.remove("sys/kernel/tracing");
  EXPECT_EQ(machine["tracefs"].state, State::missing);
  EXPECT_EQ(machine["tracefs"].temporary, "sudo mount -t tracefs nodev /sys/kernel/tracing");
  EXPECT_EQ(machine["uprobes"].remedy, "mount tracefs first, as above");
  // zlib reads a file that is not compressed as it is.
  machine.set("proc/config.gz", "CONFIG_PERF_EVENTS=y\n# CONFIG_UPROBE_EVENTS is not set\n");
  EXPECT_EQ(machine["uprobes"].detail, "the kernel was built without CONFIG_UPROBE_EVENTS");
}

class PathVariable {
public:
  explicit PathVariable(const std::string& value) : before_(std::getenv("PATH")) {
    ::setenv("PATH", value.c_str(), 1);
  }
  PathVariable(const PathVariable&) = delete;
  PathVariable& operator=(const PathVariable&) = delete;
  PathVariable(PathVariable&&) = delete;
  PathVariable& operator=(PathVariable&&) = delete;
  ~PathVariable() { ::setenv("PATH", before_.c_str(), 1); }

private:
  std::string before_;
};

void write_script(const std::string& path, std::string_view text) {
  std::ofstream(path) << text;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all |
                                         std::filesystem::perms::others_read |
                                         std::filesystem::perms::others_exec);
}

TEST(DoctorSoftware, PerfThatIsNotThereOrNotPerf) {
  const TemporaryFolder folder;
  {
    const PathVariable path(folder / "empty");
    const Diagnosis diagnosis = diagnose({});
    EXPECT_EQ(finding_of(diagnosis, "perf").state, State::missing);
    EXPECT_EQ(finding_of(diagnosis, "perf").detail, "perf is not on PATH");
    EXPECT_EQ(finding_of(diagnosis, "perf").permanent, "sudo apt-get install linux-perf");
    EXPECT_EQ(diagnosis.backend, "none");
  }
  const std::string script = folder / "perf";
  write_script(script, "#!/bin/sh\necho 'WARNING: perf not found for kernel 6.5.0-1'\n");
  const Finding wrong = finding_of(diagnose({.perf = script}), "perf");
  EXPECT_EQ(wrong.state, State::missing);
  EXPECT_NE(wrong.detail.find("WARNING: perf not found for kernel"), std::string::npos);
  EXPECT_EQ(finding_of(diagnose({.perf = "/no/such/perf"}), "perf").detail,
            "/no/such/perf is no program");
}

TEST(DoctorSoftware, PerfThatIsTooOld) {
  const TemporaryFolder folder;
  const std::string script = folder / "perf";
  write_script(script, "#!/bin/sh\ncase $1 in --version) echo perf version 5.4.0;; *) echo "
                       "--switch-events --snapshot --filter --kcore;; esac\n");
  const Diagnosis old = diagnose({.perf = script});
  EXPECT_EQ(finding_of(old, "perf").state, State::fine);
  EXPECT_EQ(finding_of(old, "perf_features").state, State::missing);
  EXPECT_EQ(finding_of(old, "perf_features").detail, "it has no --control");
  EXPECT_EQ(old.backend, "none");
  write_script(script, "#!/bin/sh\ncase $1 in --version) echo perf version 6.1.0;; *) echo "
                       "--control --switch-events --snapshot --filter;; esac\n");
  EXPECT_EQ(finding_of(diagnose({.perf = script}), "perf_features").state, State::limited);
}

TEST(DoctorSoftware, ReadsPerfsVersion) {
  const auto debian = parse_perf_version("perf version 6.1.187\n");
  ASSERT_TRUE(debian);
  EXPECT_EQ(debian->major, 6);
  EXPECT_EQ(debian->minor, 1);
  EXPECT_TRUE(parse_perf_version("perf version 5.15.gabc"));
  EXPECT_FALSE(parse_perf_version("GNU bash, version 5.2"));
  EXPECT_FALSE(parse_perf_version("perf version x"));
}

TEST(DoctorSoftware, BinariesWithLessAndLess) {
  const TemporaryFolder folder;
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

// Runs `body` in a child that may change its user and namespaces; what it finds comes back.
Diagnosis diagnose_elsewhere(const std::function<bool()>& prepare, const Checkup& checkup) {
  const TemporaryFolder folder;
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
  EXPECT_EQ(status, 0) << "the condition could not be made";
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

// A command of the doctor's, which begins with sudo, by root itself and without a shell.
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

// On the machine itself, as root.
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
    GTEST_SKIP() << "settings of the kernel cannot be changed here";
  }
  std::ofstream(setting) << "3\n";
  const Finding strict = finding_of(diagnose_elsewhere(become_nobody, {}), "paranoid");
  EXPECT_EQ(strict.state, State::missing);
  EXPECT_TRUE(follow(strict.temporary)) << strict.temporary;
  const Finding mended = finding_of(diagnose_elsewhere(become_nobody, {}), "paranoid");
  EXPECT_EQ(mended.state, State::limited);
  EXPECT_EQ(mended.detail, "2");
  std::ofstream(setting) << before;
}

TEST_F(DoctorHere, AnOrdinaryUserHasNoProbes) {
  const Diagnosis diagnosis = diagnose_elsewhere(become_nobody, {});
  EXPECT_EQ(finding_of(diagnosis, "rights").state, State::limited);
  EXPECT_EQ(finding_of(diagnosis, "uprobes").state, State::missing);
  EXPECT_NE(diagnosis.backend, "uprobe");
}

TEST_F(DoctorHere, CapabilitiesOfPerf) {
  const TemporaryFolder folder;
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
    GTEST_SKIP() << "no file can be given capabilities here";
  }
  const Diagnosis mended = diagnose_elsewhere(become_nobody, checkup);
  EXPECT_EQ(finding_of(mended, "perf_rights").state, State::fine);
  EXPECT_EQ(finding_of(mended, "rights").state, State::fine);
  EXPECT_EQ(finding_of(mended, "paranoid").state, State::fine);
  EXPECT_EQ(finding_of(mended, "mlock").state, State::fine);
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
    GTEST_SKIP() << "no user namespaces can be made here";
  }
  const Diagnosis diagnosis = diagnose_elsewhere(own_users, {});
  EXPECT_NE(finding_of(diagnosis, "rights").detail.find("by name alone"), std::string::npos);
  EXPECT_EQ(finding_of(diagnosis, "uprobes").state, State::missing);
}

bool own_mounts() {
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

TEST_F(DoctorHere, ReadOnlyTracefsIsMendedByTheAdvice) {
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
  const auto mended = [&] { return read_only() && follow(found.temporary); };
  EXPECT_EQ(finding_of(diagnose_elsewhere(mended, {}), "tracefs").state, State::fine);
}

TEST_F(DoctorHere, UnmountedTracefsIsMendedByTheAdvice) {
  const std::string tracefs = read_machine("").tracefs;
  if (tracefs != "/sys/kernel/tracing") {
    GTEST_SKIP() << "tracefs is not mounted at its own place";
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
  const auto mended = [&] { return unmounted() && follow(found.temporary); };
  EXPECT_EQ(finding_of(diagnose_elsewhere(mended, {}), "tracefs").state, State::fine);
}

TEST_F(DoctorHere, LittleRoomOnDisk) {
  const TemporaryFolder folder;
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
