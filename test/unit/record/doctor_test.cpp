// Each finding of the doctor, on made-up files of another machine.
#include "record/finding_of.hpp"
#include "record/machine/doctor.hpp"
#include "record/machine/findings.hpp"
#include "record/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>

namespace ptlens::record::test {
namespace {

using State = Finding::State;

void write_script(const std::string& path, std::string_view text) {
  std::ofstream(path) << text;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all |
                                         std::filesystem::perms::others_read |
                                         std::filesystem::perms::others_exec);
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
    write_script(perf_,
                 "#!/bin/sh\ncase $1 in --version) echo perf version 6.1.0;; *) echo --control "
                 "--switch-events --snapshot --filter --kcore;; esac\n");
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
  [[nodiscard]] Diagnosis diagnosis() const {
    return diagnose({.perf = perf_, .root = folder_ / ""});
  }
  [[nodiscard]] Finding operator[](std::string_view id) const {
    return finding_of(diagnosis(), id);
  }

private:
  TemporaryFolder folder_{"ptlens-doctor"};
  std::string perf_ = folder_ / "perf";
};

constexpr const char* device = "sys/bus/event_source/devices/intel_pt";

TEST(DoctorHardware, AnIntelProcessorWithTrace) {
  const FakeMachine machine;
  const Diagnosis diagnosis = machine.diagnosis();
  for (const char* id :
       {"intel_pt", "timing_packets", "address_filters", "virtual_machine", "container"}) {
    EXPECT_EQ(finding_of(diagnosis, id).state, State::fine) << id;
  }
  EXPECT_EQ(finding_of(diagnosis, "intel_pt").detail,
            "Fake 9000: the kernel provides the device intel_pt");
  EXPECT_EQ(finding_of(diagnosis, "address_filters").detail, "2 ranges");
  EXPECT_EQ(diagnosis.backend, "intel_pt");
}

TEST(DoctorHardware, ExplainsWhyIntelPtIsMissing) {
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
  EXPECT_EQ(amd.detail, "Zen: the kernel provides no device intel_pt");
  EXPECT_NE(amd.remedy.find("use an Intel processor"), std::string::npos);
  EXPECT_EQ(amd.temporary, "");
}

TEST(DoctorHardware, ReportsMissingTimingPackets) {
  const FakeMachine machine;
  machine.set(std::string(device) + "/caps/psb_cyc", "0\n");
  EXPECT_EQ(machine["timing_packets"].state, State::limited);
  machine.set(std::string(device) + "/caps/mtc", "0\n");
  EXPECT_EQ(machine["timing_packets"].state, State::missing);
  EXPECT_EQ(machine["timing_packets"].detail, "CYC no, MTC no (periods 0x249), PSB periods 0x3f");
}

TEST(DoctorHardware, AddressFiltersNeedProcessorAndKernel) {
  const FakeMachine machine;
  machine.set(std::string(device) + "/nr_addr_filters", "1\n");
  EXPECT_EQ(machine["address_filters"].detail, "1 range");
  machine.set(std::string(device) + "/caps/ip_filtering", "0\n");
  EXPECT_EQ(machine["address_filters"].state, State::limited);
  EXPECT_EQ(machine["address_filters"].detail, "0 ranges");
}

TEST(DoctorHardware, NamesTheHypervisor) {
  const FakeMachine machine;
  machine.set("proc/cpuinfo", "flags\t\t: fpu hypervisor tsc\n");
  machine.set("sys/class/dmi/id/sys_vendor", "QEMU\n");
  EXPECT_EQ(machine["virtual_machine"].state, State::limited);
  EXPECT_EQ(machine["virtual_machine"].detail, "this machine is virtual (hypervisor: QEMU)");
}

TEST(DoctorHardware, RecognisesContainers) {
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

TEST(DoctorRights, RootOfAUserNamespaceHasNoCapabilities) {
  const FakeMachine machine;
  machine.become_root();
  EXPECT_EQ(machine["rights"].detail, "root");
  machine.set("proc/self/uid_map", "         0       1000          1\n");
  EXPECT_EQ(machine["rights"].state, State::limited);
  EXPECT_NE(machine["rights"].detail.find("without root's capabilities"), std::string::npos);
  EXPECT_EQ(machine["paranoid"].state, State::limited); // and so bound by it
  machine.set("proc/self/uid_map", "         0          0 4294967295\n");
  machine.set("proc/self/status", "Uid:\t0\t0\t0\t0\nCapEff:\t00000000a80425fb\n"); // Docker's
  EXPECT_NE(machine["rights"].detail.find("without root's capabilities"), std::string::npos);
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
  EXPECT_EQ(machine["uprobes"].remedy, "mount tracefs first; see the finding tracefs");
  // zlib also reads a file that is not compressed.
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

TEST(DoctorSoftware, PerfIsMissingOrAnotherProgram) {
  const TemporaryFolder folder;
  {
    const PathVariable path(folder / "empty");
    const Diagnosis diagnosis = diagnose({});
    EXPECT_EQ(finding_of(diagnosis, "perf").state, State::missing);
    EXPECT_EQ(finding_of(diagnosis, "perf").detail, "perf was not found on PATH");
    EXPECT_EQ(finding_of(diagnosis, "perf").permanent, "sudo apt-get install linux-perf");
    EXPECT_EQ(diagnosis.backend, "none");
  }
  const std::string script = folder / "perf";
  write_script(script, "#!/bin/sh\necho 'WARNING: perf not found for kernel 6.5.0-1'\n");
  const Finding wrong = finding_of(diagnose({.perf = script}), "perf");
  EXPECT_EQ(wrong.state, State::missing);
  EXPECT_NE(wrong.detail.find("WARNING: perf not found for kernel"), std::string::npos);
  EXPECT_EQ(finding_of(diagnose({.perf = "/no/such/perf"}), "perf").detail,
            "/no/such/perf is not an executable file");
}

TEST(DoctorSoftware, PerfIsTooOld) {
  const TemporaryFolder folder;
  const std::string script = folder / "perf";
  write_script(script, "#!/bin/sh\ncase $1 in --version) echo perf version 5.4.0;; *) echo "
                       "--switch-events --snapshot --filter --kcore;; esac\n");
  const Diagnosis old = diagnose({.perf = script});
  EXPECT_EQ(finding_of(old, "perf").state, State::fine);
  EXPECT_EQ(finding_of(old, "perf_features").state, State::missing);
  EXPECT_EQ(finding_of(old, "perf_features").detail, "this perf does not support --control");
  EXPECT_EQ(old.backend, find_program("uftrace").empty() ? "none" : "uftrace");
  write_script(script, "#!/bin/sh\ncase $1 in --version) echo perf version 6.1.0;; *) echo "
                       "--control --switch-events --snapshot --filter;; esac\n");
  EXPECT_EQ(finding_of(diagnose({.perf = script}), "perf_features").state, State::limited);
}

TEST(DoctorSoftware, ParsesTheVersionOfPerf) {
  const auto debian = parse_perf_version("perf version 6.1.187\n");
  ASSERT_TRUE(debian);
  EXPECT_EQ(debian->major, 6);
  EXPECT_EQ(debian->minor, 1);
  EXPECT_TRUE(parse_perf_version("perf version 5.15.gabc"));
  EXPECT_FALSE(parse_perf_version("GNU bash, version 5.2"));
  EXPECT_FALSE(parse_perf_version("perf version x"));
}

} // namespace
} // namespace ptlens::record::test
