// Every kind of record, written field by field, is read as the right value.
#include "perfdata/recording.hpp"
#include "perfdata_test_support.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ptlens::perfdata {
namespace {

using test::Bytes;
using test::Event;
using test::PerfDataBuilder;

TEST(Records, KeepsExecutableMappingsOnly) {
  PerfDataBuilder builder;
  builder.mmap2(7, 0x400000, 0x2000, 0x1000, "/bin/x", {.time = 5, .pid = 7, .tid = 8});
  builder.mmap2(7, 0x600000, 0x1000, 0, "/bin/data", {.time = 6}, PROT_READ);
  builder.add(PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL,
              Bytes()
                  .add(-1)
                  .add(0)
                  .add(0xffffffff81000000)
                  .add(0x1000UL)
                  .add(0UL)
                  .text("[kernel.kallsyms]_text"),
              {});
  builder.add(PERF_RECORD_MMAP, PERF_RECORD_MISC_MMAP_DATA,
              Bytes().add(7).add(7).add(0x700000UL).add(0x1000UL).add(0UL).text("/bin/heap"), {});
  const Recording recording = opened(builder);
  ASSERT_EQ(recording.mappings().size(), 2U);
  const Mapping& kernel = recording.mappings()[0];
  EXPECT_EQ(kernel.pid, -1);
  EXPECT_TRUE(kernel.from_kernel);
  EXPECT_EQ(kernel.start, 0xffffffff81000000);
  EXPECT_EQ(kernel.path, "[kernel.kallsyms]_text");
  const Mapping& binary = recording.mappings()[1];
  EXPECT_EQ(binary.time_ns, 5U);
  EXPECT_EQ(binary.pid, 7);
  EXPECT_EQ(binary.start, 0x400000U);
  EXPECT_EQ(binary.length, 0x2000U);
  EXPECT_EQ(binary.file_offset, 0x1000U);
  EXPECT_EQ(binary.path, "/bin/x");
  EXPECT_FALSE(binary.from_kernel);
  EXPECT_TRUE(binary.build_id.empty());
}

TEST(Records, ReadsTheBuildIdOfAMapping) {
  Bytes body;
  body.add(7).add(7).add(0x400000UL).add(0x1000UL).add(0UL);
  body.add(std::uint8_t{3}).zeros(3);
  body.add(std::uint8_t{0xab}).add(std::uint8_t{0xcd}).add(std::uint8_t{0xef}).zeros(17);
  body.add(std::uint32_t{PROT_EXEC}).add(0U).text("/bin/x");
  const Recording recording = opened(
      PerfDataBuilder().add(PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, body, {.time = 1}));
  ASSERT_EQ(recording.mappings().size(), 1U);
  EXPECT_EQ(recording.mappings()[0].build_id, (std::vector<std::uint8_t>{0xab, 0xcd, 0xef}));
  EXPECT_EQ(recording.mappings()[0].path, "/bin/x");
}

TEST(Records, ReadsTheLifeOfAThread) {
  PerfDataBuilder builder;
  builder.fork(20, 10, 21, 11, {.time = 100});
  builder.comm(20, 21, "worker", true, {.time = 110});
  builder.comm(20, 21, "renamed", false, {.time = 120});
  builder.exit(20, 21, {.time = 130});
  const Recording recording = opened(builder);
  ASSERT_EQ(recording.thread_starts().size(), 1U);
  EXPECT_EQ(recording.thread_starts()[0].pid, 20);
  EXPECT_EQ(recording.thread_starts()[0].tid, 21);
  EXPECT_EQ(recording.thread_starts()[0].parent_pid, 10);
  EXPECT_EQ(recording.thread_starts()[0].parent_tid, 11);
  EXPECT_EQ(recording.thread_starts()[0].time_ns, 100U);
  ASSERT_EQ(recording.thread_names().size(), 2U);
  EXPECT_EQ(recording.thread_names()[0].name, "worker");
  EXPECT_TRUE(recording.thread_names()[0].exec);
  EXPECT_EQ(recording.thread_names()[1].name, "renamed");
  EXPECT_FALSE(recording.thread_names()[1].exec);
  ASSERT_EQ(recording.thread_exits().size(), 1U);
  EXPECT_EQ(recording.thread_exits()[0].tid, 21);
  EXPECT_EQ(recording.thread_exits()[0].time_ns, 130U);
}

TEST(Records, DistinguishesPreemptedFromBlocked) {
  PerfDataBuilder builder;
  builder.context_switch(true, false, {.time = 1, .pid = 5, .tid = 6, .cpu = 2});
  builder.context_switch(false, false, {.time = 2, .pid = 5, .tid = 6, .cpu = 3});
  builder.context_switch_cpu_wide(true, true, 8, 9, {.time = 3, .pid = 5, .tid = 6, .cpu = 3});
  const Recording recording = opened(builder);
  ASSERT_EQ(recording.switches().size(), 3U);
  const auto switches = recording.switches();
  EXPECT_TRUE(switches[0].out);
  EXPECT_FALSE(switches[0].preempted);
  EXPECT_EQ(switches[0].tid, 6);
  EXPECT_EQ(switches[0].cpu, 2);
  EXPECT_EQ(switches[0].other_tid, -1);
  EXPECT_FALSE(switches[1].out);
  EXPECT_TRUE(switches[2].out);
  EXPECT_TRUE(switches[2].preempted);
  EXPECT_EQ(switches[2].other_pid, 8);
  EXPECT_EQ(switches[2].other_tid, 9);
}

TEST(Records, OrdersByTimeAndKeepsTheFileOrderOfEqualTimes) {
  PerfDataBuilder builder;
  builder.comm(1, 1, "c", false, {.time = 30});
  builder.comm(1, 1, "a", false, {.time = 10});
  builder.comm(1, 1, "b1", false, {.time = 20});
  builder.comm(1, 1, "b2", false, {.time = 20});
  const Recording recording = opened(builder);
  std::string names;
  for (const ThreadName& name : recording.thread_names()) {
    names += name.name + " ";
  }
  EXPECT_EQ(names, "a b1 b2 c ");
}

TEST(Records, ReadsTheRecordsAboutTheTrace) {
  PerfDataBuilder builder;
  builder.itrace_start(5, 6, {.time = 1, .cpu = 4});
  builder.aux(0x100, 0x40, PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL, {.time = 2, .cpu = 4});
  builder.aux(0x140, 0x40, PERF_AUX_FLAG_OVERWRITE | PERF_AUX_FLAG_COLLISION, {.time = 3});
  builder.add(PERF_RECORD_LOST, 0, Bytes().add(1UL).add(12UL), {.time = 4, .tid = 6});
  builder.add(PERF_RECORD_LOST_SAMPLES, 0, Bytes().add(13UL), {.time = 5});
  Bytes error;
  error.add(1U).add(5U).add(3).add(7).add(8).add(1U).add(0x1234UL).add(99UL).text("no code");
  builder.raw(test::record(72, 0, error));
  const Recording recording = opened(builder);
  ASSERT_EQ(recording.trace_starts().size(), 1U);
  EXPECT_EQ(recording.trace_starts()[0].tid, 6);
  EXPECT_EQ(recording.trace_starts()[0].cpu, 4);
  ASSERT_EQ(recording.aux_writes().size(), 2U);
  EXPECT_EQ(recording.aux_writes()[0].offset, 0x100U);
  EXPECT_EQ(recording.aux_writes()[0].size, 0x40U);
  EXPECT_TRUE(recording.aux_writes()[0].truncated);
  EXPECT_TRUE(recording.aux_writes()[0].partial);
  EXPECT_FALSE(recording.aux_writes()[0].overwrite);
  EXPECT_TRUE(recording.aux_writes()[1].overwrite);
  EXPECT_TRUE(recording.aux_writes()[1].collision);
  ASSERT_EQ(recording.lost().size(), 2U);
  EXPECT_EQ(recording.lost()[0].count, 12U);
  EXPECT_EQ(recording.lost()[0].tid, 6);
  EXPECT_EQ(recording.lost()[1].count, 13U);
  ASSERT_EQ(recording.trace_errors().size(), 1U);
  EXPECT_EQ(recording.trace_errors()[0].cpu, 3);
  EXPECT_EQ(recording.trace_errors()[0].tid, 8);
  EXPECT_EQ(recording.trace_errors()[0].address, 0x1234U);
  EXPECT_EQ(recording.trace_errors()[0].time_ns, 99U);
  EXPECT_EQ(recording.trace_errors()[0].message, "no code");
}

TEST(Records, ReadsChangesOfKernelCode) {
  PerfDataBuilder builder;
  builder.add(PERF_RECORD_KSYMBOL, 0,
              Bytes()
                  .add(0xffffffffc0000000)
                  .add(64U)
                  .add(std::uint16_t{1})
                  .add(std::uint16_t{1})
                  .text("bpf_prog_1"),
              {.time = 1});
  Bytes poke;
  poke.add(0xffffffff81000010).add(std::uint16_t{2}).add(std::uint16_t{3});
  for (const std::uint8_t byte : {0x90, 0x90, 0xe9, 0x01, 0x02, 0x00, 0x00}) { // 2 padding
    poke.add(byte);
  }
  builder.add(PERF_RECORD_TEXT_POKE, 0, poke.zeros(5), {.time = 2});
  const Recording recording = opened(builder);
  ASSERT_EQ(recording.kernel_symbols().size(), 1U);
  EXPECT_EQ(recording.kernel_symbols()[0].name, "bpf_prog_1");
  EXPECT_EQ(recording.kernel_symbols()[0].length, 64U);
  EXPECT_TRUE(recording.kernel_symbols()[0].unregister);
  ASSERT_EQ(recording.text_pokes().size(), 1U);
  const TextPoke& changed = recording.text_pokes()[0];
  EXPECT_EQ(changed.old_bytes, (std::vector<std::byte>{std::byte{0x90}, std::byte{0x90}}));
  EXPECT_EQ(changed.new_bytes,
            (std::vector<std::byte>{std::byte{0xe9}, std::byte{0x01}, std::byte{0x02}}));
}

TEST(Records, GroupsTraceBytesByBuffer) {
  const auto first = some_bytes(16, 1);
  const auto second = some_bytes(24, 2);
  const auto other = some_bytes(8, 3);
  PerfDataBuilder builder;
  builder.auxtrace(1, 77, 3, 16, 222, second); // perf before 5.x: the tid of the program
  builder.auxtrace(4, 55, -1, 0, 333, other);
  builder.auxtrace(1, 77, 3, 0, 111, first);
  const Recording recording = opened(builder);
  ASSERT_EQ(recording.aux_buffers().size(), 2U);
  const AuxBuffer& of_cpu = recording.aux_buffers()[0];
  EXPECT_EQ(of_cpu.index, 1U);
  EXPECT_EQ(of_cpu.cpu, 3);
  EXPECT_EQ(of_cpu.tid, -1);
  ASSERT_EQ(of_cpu.chunks.size(), 2U);
  EXPECT_EQ(of_cpu.chunks[0].reference, 111U);
  EXPECT_EQ(of_cpu.chunks[1].aux_offset, 16U);
  EXPECT_TRUE(std::ranges::equal(recording.bytes(of_cpu.chunks[0]), first));
  EXPECT_TRUE(std::ranges::equal(recording.bytes(of_cpu.chunks[1]), second));
  const AuxBuffer& of_thread = recording.aux_buffers()[1];
  EXPECT_EQ(of_thread.cpu, -1);
  EXPECT_EQ(of_thread.tid, 55);
  EXPECT_TRUE(std::ranges::equal(recording.bytes(of_thread.chunks[0]), other));
  EXPECT_EQ(recording.trace_bytes(), 48U);
}

// perf pads chunks to 8 bytes and continues at the true offset.
TEST(Records, ExcludesThePaddingOfAuxChunks) {
  const std::vector<std::byte> padded = some_bytes(16, 1); // 13 bytes of trace
  const std::vector<std::byte> next = some_bytes(8, 2);
  PerfDataBuilder builder;
  builder.auxtrace(0, -1, 2, 0, 1, padded);
  builder.auxtrace(0, -1, 2, 13, 2, next);
  builder.auxtrace(0, -1, 2, 100, 3, next); // a gap stays a gap
  const Recording recording = opened(builder);
  const auto& chunks = recording.aux_buffers().front().chunks;
  ASSERT_EQ(chunks.size(), 3U);
  EXPECT_EQ(chunks[0].size, 13U);
  EXPECT_EQ(chunks[1].aux_offset, 13U);
  EXPECT_EQ(chunks[1].size, 8U);
  EXPECT_EQ(chunks[2].aux_offset, 100U);
}

TEST(Records, ReadsTheIntelPtFieldsOfAnyPerf) {
  const std::vector<std::uint64_t> fields = {8, 31,    1000,    7,  1, 0x400, 0x800, 3, 1,
                                             1, 0x200, 0x3c000, 84, 2, 2,     21,    11};
  const Recording whole = opened(PerfDataBuilder().intel_pt_info(fields, "filter main"));
  ASSERT_TRUE(whole.intel_pt().has_value());
  EXPECT_EQ(whole.intel_pt()->pmu_type, 8U);
  EXPECT_EQ(whole.intel_pt()->tsc_bit, 0x400U);
  EXPECT_EQ(whole.intel_pt()->noretcomp_bit, 0x800U);
  EXPECT_EQ(whole.intel_pt()->mtc_bit, 0x200U);
  EXPECT_EQ(whole.intel_pt()->mtc_freq_bits, 0x3c000U);
  EXPECT_EQ(whole.intel_pt()->tsc_ctc_numerator, 84U);
  EXPECT_EQ(whole.intel_pt()->tsc_ctc_denominator, 2U);
  EXPECT_EQ(whole.intel_pt()->cyc_bit, 2U);
  EXPECT_EQ(whole.intel_pt()->max_nonturbo_ratio, 21U);
  EXPECT_TRUE(whole.intel_pt()->snapshot_mode);
  EXPECT_TRUE(whole.intel_pt()->per_cpu_buffers);
  EXPECT_EQ(whole.intel_pt()->filter, "filter main");
  EXPECT_TRUE(whole.time_conversion().valid);
  EXPECT_EQ(whole.time_conversion().shift, 31U);
  EXPECT_EQ(whole.time_conversion().multiplier, 1000U);
  EXPECT_EQ(whole.time_conversion().zero, 7U);

  const Recording old =
      opened(PerfDataBuilder().intel_pt_info({fields.begin(), fields.begin() + 10}));
  ASSERT_TRUE(old.intel_pt().has_value());
  EXPECT_EQ(old.intel_pt()->mtc_bit, 0U);
  EXPECT_TRUE(old.intel_pt()->filter.empty());
  EXPECT_FALSE(refused(PerfDataBuilder().intel_pt_info({fields.begin(), fields.begin() + 9}))
                   .message.empty());
}

TEST(Records, PrefersTheTimeConversionRecord) {
  const Recording recording = opened(
      PerfDataBuilder().time_conv(10, 2048, 9).intel_pt_info({8, 31, 1000, 7, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(recording.time_conversion().to_ns(4), 17U);
  EXPECT_EQ(refused(PerfDataBuilder().time_conv(64, 1, 0)).kind, Error::Kind::bad_input);
}

TEST(Records, FindsThePayloadOfASampleAfterEveryOtherField) {
  Event event{.type = 2, .config = 1234, .ids = {11}, .name = "probe:f"};
  event.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                      PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
                      PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN |
                      PERF_SAMPLE_RAW | PERF_SAMPLE_STACK_USER;
  event.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED;
  const auto raw = some_bytes(20, 9);
  Bytes body;
  body.add(11UL).add(0x401000UL).add(5).add(6).add(1000UL).add(0xaUL).add(11UL).add(0xbUL);
  body.add(3).add(0U).add(1UL);
  body.add(2UL).add(50UL).add(7UL).add(11UL).add(8UL).add(12UL); // two counters, ids 11 and 12
  body.add(3UL).add(1UL).add(2UL).add(3UL);                      // a call chain of three
  body.add(static_cast<std::uint32_t>(raw.size())).add(raw);
  const Recording recording =
      opened(PerfDataBuilder({event}).raw(test::record(PERF_RECORD_SAMPLE, 0, body.zeros(16))));
  ASSERT_EQ(recording.samples().size(), 1U);
  const Sample& sample = recording.samples()[0];
  EXPECT_EQ(sample.ip, 0x401000U);
  EXPECT_EQ(sample.pid, 5);
  EXPECT_EQ(sample.tid, 6);
  EXPECT_EQ(sample.time_ns, 1000U);
  EXPECT_EQ(sample.cpu, 3);
  EXPECT_TRUE(std::ranges::equal(sample.raw, raw));
}

TEST(Records, ReadsTheRegistersAndTheStackOfASample) {
  Event event{.registers = 0b110};
  event.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
                      PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  const auto sample_of = [&](std::uint64_t abi, const Bytes& registers, std::uint64_t used) {
    Bytes body;
    body.add(5).add(6).add(1UL).add(0xaaUL); // thread, a call chain of one
    body.add(4U).add(0x1234U);               // payload
    body.add(abi).add(registers).add(24UL).add(some_bytes(24, 3)).add(used);
    return PerfDataBuilder({event}).raw(test::record(PERF_RECORD_SAMPLE, 0, body));
  };
  const Bytes registers = Bytes().add(0x11UL).add(0x22UL);
  const Recording whole = opened(sample_of(PERF_SAMPLE_REGS_ABI_64, registers, 16));
  const Sample& sample = whole.samples()[0];
  EXPECT_EQ(whole.attributes()[0].registers, 0b110U);
  EXPECT_TRUE(std::ranges::equal(sample.chain, Bytes().add(0xaaUL).bytes()));
  EXPECT_TRUE(std::ranges::equal(sample.registers, registers.bytes()));
  const auto stack = some_bytes(24, 3);
  EXPECT_TRUE(std::ranges::equal(sample.user_stack, std::span(stack).first(16)));
  const Recording kernel_thread = opened(sample_of(PERF_SAMPLE_REGS_ABI_NONE, Bytes(), 0));
  EXPECT_TRUE(kernel_thread.samples()[0].registers.empty());
  EXPECT_TRUE(kernel_thread.samples()[0].user_stack.empty());
  const Recording narrow = opened(sample_of(PERF_SAMPLE_REGS_ABI_32, registers, 1000));
  EXPECT_TRUE(narrow.samples()[0].registers.empty());
  EXPECT_EQ(narrow.samples()[0].user_stack.size(), 24U); // no more than there is
}

TEST(Records, RefusesCountsThatDoNotFit) {
  Event event;
  event.sample_type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW;
  for (const std::uint64_t count : {2UL, 1UL << 61U, ~0UL}) {
    const Error error = refused(PerfDataBuilder({event}).raw(
        test::record(PERF_RECORD_SAMPLE, 0, Bytes().add(count).add(0UL))));
    EXPECT_EQ(error.kind, Error::Kind::bad_input);
    EXPECT_EQ(error.offset, PerfDataBuilder({event}).data_offset());
  }
}

// Two events with different layouts. Records that perf invents have id 0 and the layout of the
// first event.
TEST(Records, FindsTheLayoutByTheEventsId) {
  const Event wide{.ids = {21, 22}, .name = "dummy:u"};
  const Event narrow{.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                    PERF_SAMPLE_IDENTIFIER,
                     .ids = {31},
                     .name = "cycles"};
  PerfDataBuilder builder({wide, narrow});
  builder.comm(1, 1, "made-up", false, {.time = 0, .id = 0});
  builder.add(PERF_RECORD_SWITCH, 0, {}, {.time = 70, .pid = 5, .tid = 6, .cpu = 7, .id = 22}, 0);
  builder.add(PERF_RECORD_SWITCH, 0, {}, {.time = 80, .pid = 8, .tid = 9, .cpu = 7, .id = 31}, 1);
  builder.raw(
      test::record(PERF_RECORD_SAMPLE, 0, Bytes().add(31UL).add(0x99UL).add(8).add(9).add(90UL)));
  const Recording recording = opened(builder.event_names());
  EXPECT_EQ(recording.thread_names()[0].name, "made-up");
  ASSERT_EQ(recording.switches().size(), 2U);
  EXPECT_EQ(recording.switches()[0].tid, 6);
  EXPECT_EQ(recording.switches()[0].cpu, 7);
  EXPECT_EQ(recording.switches()[1].tid, 9);
  EXPECT_EQ(recording.switches()[1].cpu, -1);
  EXPECT_EQ(recording.switches()[1].time_ns, 80U);
  ASSERT_EQ(recording.samples().size(), 1U);
  EXPECT_EQ(recording.samples()[0].attribute, 1U);
  EXPECT_EQ(recording.samples()[0].time_ns, 90U);
  EXPECT_EQ(recording.attributes()[1].name, "cycles");
}

TEST(Records, FindsAnIdThatIsNotAtTheEnd) {
  Event first{.ids = {41}};
  first.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_CPU;
  Event second = first;
  second.ids = {42};
  second.sample_type &= ~std::uint64_t{PERF_SAMPLE_TIME};
  PerfDataBuilder builder({first, second});
  builder.add(PERF_RECORD_SWITCH, 0, {}, {.time = 1, .pid = 5, .tid = 6, .cpu = 2, .id = 42}, 1);
  const Recording recording = opened(builder);
  EXPECT_EQ(recording.switches()[0].tid, 6);
  EXPECT_EQ(recording.switches()[0].time_ns, 0U);
  EXPECT_EQ(recording.switches()[0].cpu, 2);
}

TEST(Records, ReadsNoTrailerWhereTheEventHasNone) {
  Event event;
  event.sample_id_all = false;
  const Recording recording = opened(PerfDataBuilder({event}).comm(3, 4, "bare", false, {}));
  EXPECT_EQ(recording.thread_names()[0].name, "bare");
  EXPECT_EQ(recording.thread_names()[0].tid, 4);
}

TEST(Records, SkipsUnknownRecords) {
  PerfDataBuilder builder;
  for (const std::uint32_t type : {16U, 18U, 40U, 68U, 73U, 74U, 75U, 76U, 77U, 78U, 82U, 99U}) {
    builder.raw(test::record(type, 0, Bytes().zeros(16)));
  }
  builder.raw(test::record(0xffffffff, 0, Bytes().zeros(8)));
  builder.comm(1, 1, "after", false, {.time = 1});
  const Recording recording = opened(builder);
  EXPECT_EQ(recording.thread_names().size(), 1U);
  EXPECT_EQ(recording.record_counts()[68], 1U);
  EXPECT_EQ(recording.record_counts()[PERF_RECORD_COMM], 1U);
}

TEST(Records, AddsEventsAndBuildIdsFromRecords) {
  PerfDataBuilder builder;
  perf_event_attr attr{};
  attr.size = 64;
  attr.type = 2;
  attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME;
  builder.raw(
      test::record(64, 0, Bytes().add(std::as_bytes(std::span(&attr, 1)).first(64)).add(77UL)));
  builder.raw(test::record(PERF_RECORD_SAMPLE, 0, Bytes().add(77UL).add(123UL)));
  builder.raw(test::record(
      67, 0x8000,
      Bytes().add(-1).add(some_bytes(20, 4)).add(std::uint8_t{2}).zeros(3).text("/bin/x")));
  const Recording recording = opened(builder);
  ASSERT_EQ(recording.attributes().size(), 2U);
  ASSERT_EQ(recording.samples().size(), 1U);
  EXPECT_EQ(recording.samples()[0].attribute, 1U);
  EXPECT_EQ(recording.samples()[0].time_ns, 123U);
  ASSERT_EQ(recording.build_ids().size(), 1U);
  EXPECT_EQ(recording.build_ids()[0].path, "/bin/x");
  EXPECT_EQ(recording.build_ids()[0].build_id.size(), 2U);
}

} // namespace
} // namespace ptlens::perfdata
