// Made from extension/protocol.schema.json by tools/bundle.mjs; not edited by hand.

/**
 * ELF virtual address, null where it is unknown.
 */
export type AddressOrUnknown = (Address | null)
/**
 * ELF virtual address inside its binary, as nm prints it: hexadecimal in a string, because 64 bits do not fit a JSON number.
 */
export type Address = string
/**
 * How a recording was, or is to be, made; auto takes the best that the machine has.
 */
export type Backend = ("auto" | "intel_pt" | "uprobe")
/**
 * LSP progress token.
 */
export type ProgressToken = (string | number)
/**
 * as_measured: the text is the one that was measured. edited: it is not. newer: the measured text is not known, and the file is newer than the binary. unknown: whether it is the measured text.
 */
export type TextState = ("as_measured" | "edited" | "newer" | "unknown")
/**
 * Whether a difference is a change: unchanged ones are within the resolution or the scatter of the calls.
 */
export type Verdict = ("changed" | "unchanged" | "few_calls" | "no_timing")
/**
 * Which time a flame graph counts: wall clock, on-CPU or off-CPU.
 */
export type TimeKind = ("wall" | "on" | "off")
/**
 * complete: start and end seen, nothing lost between; incomplete: one end missing or a gap inside; unwound: ended by an exception, longjmp or thread exit.
 */
export type CallState = ("complete" | "incomplete" | "unwound")
/**
 * Kind of a failure. Its JSON-RPC code: bad_input -32010, not_found -32011, no_rights -32012, unsupported -32013, gone -32014, failed -32015, cancelled -32800 (LSP's RequestCancelled).
 */
export type ErrorKind = ("bad_input" | "not_found" | "no_rights" | "unsupported" | "gone" | "cancelled" | "failed")

/**
 * The methods of `ptlens serve` beyond LSP's own, and every type on the wire. The TypeScript half is generated from this file; the golden sessions check the helper's half against it. Times are ns unless said otherwise. Server to client: $/progress (ProgressParams), workspace/codeLens/refresh, workspace/inlayHint/refresh.
 */
export interface Protocol {
"ptlens/doctor": {
params: DoctorParams
result: DoctorResult
}
"ptlens/processes": {
params: ProcessesParams
result: ProcessesResult
}
"ptlens/functionAt": {
params: FunctionAtParams
result: FunctionAtResult
}
"ptlens/record": {
params: RecordParams
result: OpenResult
}
"ptlens/open": {
params: OpenParams
result: OpenResult
}
"ptlens/close": {
params: CloseParams
result: Nothing
}
"ptlens/activate": {
params: ActivateParams
result: Nothing
}
"ptlens/store": {
params: StoreParams
result: StoreResult
}
"ptlens/functions": {
params: FunctionsParams
result: FunctionsResult
}
"ptlens/report": {
params: ReportParams
result: Report
}
"ptlens/lines": {
params: LinesParams
result: LinesResult
}
"ptlens/lineTime": {
params: LineTimeParams
result: LineTimeResult
}
"ptlens/annotations": {
params: AnnotationsParams
result: AnnotationsResult
}
"ptlens/presentLine": {
params: PresentLineParams
result: PresentLineResult
}
"ptlens/flame": {
params: FlameParams
result: FlameResult
}
"ptlens/calls": {
params: CallsParams
result: CallsResult
}
"ptlens/finish": {
params: FinishParams
result: FinishResult
}
initialize: {
/**
 * initializationOptions of the params.
 */
params: InitializationOptions
result: InitializeResult
}
"textDocument/codeLens": {
result: CodeLens[]
}
"textDocument/hover": {
result: (Hover | null)
}
"textDocument/inlayHint": {
result: InlayHint[]
}
/**
 * workspace/executeCommand with a path, or OpenParams.
 */
"ptlens.open": {
result: OpenResult
}
/**
 * workspace/executeCommand: the baseline's path, or OpenParams.
 */
"ptlens.compare": {
result: OpenResult
}
/**
 * workspace/executeCommand with a name, or ShowFunctionArguments. The report is shown by window/showDocument, else by window/showMessage.
 */
"ptlens.showFunction": {
result: ShownReport
}
"window/showMessage": {
params: ShowMessageParams
}
"window/showDocument": {
params: ShowDocumentParams
}
"$/progress": {
params: ProgressParams
}
"ptlens/partial": {
params: PartialParams
}
"$/logTrace": {
params: LogTraceParams
}
/**
 * `data` of an error.
 */
error: {
data?: ErrorData
invalidParams?: InvalidParamsData
}
"ptlens/snapshot": {
params: FinishParams
result: FinishResult
}
"ptlens/threads": {
params: ThreadsParams
result: ThreadsResult
}
"ptlens/bundle": {
params: BundleParams
result: BundleResult
}
}
export interface DoctorParams {
/**
 * perf to look at, empty: from PATH.
 */
perf?: string
/**
 * Binary whose debug information to look at.
 */
binary?: string
}
/**
 * What this machine can measure: what `ptlens doctor --json` prints.
 */
export interface DoctorResult {
/**
 * Best backend that would work now.
 */
backend: ("intel_pt" | "uprobe" | "none")
findings: Finding[]
}
/**
 * One thing that was looked at.
 */
export interface Finding {
/**
 * Stable, e.g. intel_pt.
 */
id: string
/**
 * For people.
 */
title: string
state: ("fine" | "limited" | "missing")
/**
 * What was found.
 */
detail: string
/**
 * Why it matters.
 */
why: string
/**
 * The exact command, or what to do; empty when fine.
 */
remedy: string
/**
 * The command that mends it until the next start of the machine, or for one run; empty: there is none.
 */
temporary: string
/**
 * The command that mends it for good; empty: there is none.
 */
permanent: string
}
export interface ProcessesParams {
/**
 * Source file; empty: has_source is false throughout.
 */
source?: string
}
/**
 * Those with has_source first, then youngest first.
 */
export interface ProcessesResult {
processes: Process[]
}
/**
 * A process that could be measured.
 */
export interface Process {
/**
 * Process.
 */
pid: number
/**
 * Clock ticks since boot: tells a process from a later one with the same pid.
 */
start_time: number
/**
 * Owner.
 */
user: string
/**
 * Short name.
 */
name: string
/**
 * Command line.
 */
command: string
/**
 * Path, empty where it may not be read.
 */
executable: string
/**
 * Seconds since its start.
 */
age_s: number
/**
 * Of one core, in the last fifth of a second.
 */
cpu_percent: number
/**
 * How many it has.
 */
threads: number
/**
 * It lives in another namespace of processes than the helper.
 */
container: boolean
/**
 * We have the rights.
 */
may_attach: boolean
/**
 * Some mapped binary was made from the source file asked about.
 */
has_source: boolean
/**
 * The file of that binary is another by now than the one that runs.
 */
rebuilt: boolean
}
/**
 * Where the cursor is. The binaries searched are those mapped by `pid`, else `program`, else those of every process that was built from `file`.
 */
export interface FunctionAtParams {
/**
 * Absolute path of the source file.
 */
file: string
/**
 * 1-based.
 */
line: number
/**
 * Identifier at the cursor: a declaration or call found by name when no function covers the line.
 */
name?: string
/**
 * Process.
 */
pid?: number
/**
 * Executable.
 */
program?: string
/**
 * The function around the line as a language server names it, with its scopes.
 */
symbol?: string
/**
 * Line of that name, 1-based.
 */
symbolLine?: number
}
/**
 * Functions at a source line.
 */
export interface FunctionAtResult {
/**
 * Best match first.
 */
candidates: FoundFunction[]
/**
 * Why there is none; empty when there is one.
 */
message: string
/**
 * The function at the cursor, when it was inlined everywhere; else null.
 */
inlined: (InlinedAt | null)
}
/**
 * A function in a binary, found for a place in the source.
 */
export interface FoundFunction {
/**
 * Demangled name; [unknown] where nothing is known.
 */
name: string
/**
 * Path of the ELF file as recorded, empty where unknown.
 */
binary: string
address: AddressOrUnknown
/**
 * Source file of the declaration, empty without debug information.
 */
file: string
/**
 * Line of the declaration, 1-based, 0 without debug information.
 */
line: number
/**
 * Name without parameters and template arguments: equal for the instances of a template.
 */
spelling: string
}
/**
 * A function of which nothing is left but in others.
 */
export interface InlinedAt {
/**
 * Demangled.
 */
name: string
/**
 * Where its code was put.
 */
places: number
/**
 * Functions that hold it, each once.
 */
holders: FoundFunction[]
}
/**
 * Measure. One of `pid`, `tid` and `program`.
 */
export interface RecordParams {
/**
 * Process to attach to.
 */
pid?: number
/**
 * Its start_time; recording is refused when the pid was reused.
 */
startTime?: number
/**
 * Executable to start.
 */
program?: string
/**
 * Its arguments.
 */
arguments?: string[]
/**
 * Its working directory.
 */
cwd?: string
/**
 * Variables added for it.
 */
environment?: {
[k: string]: string
}
/**
 * Needed by the uprobe backend.
 */
function?: FunctionSelector
/**
 * Seconds; 0: until the target ends or ptlens/finish.
 */
duration?: number
backend?: Backend
/**
 * perf to run, empty: from PATH.
 */
perf?: string
/**
 * Directory to make; empty: a new one, named after time and function.
 */
output?: string
/**
 * Directory in which the new one is made; empty: the user's state directory.
 */
folder?: string
/**
 * Trace only the function, where the CPU can.
 */
filter?: boolean
/**
 * Keep only the last of the trace.
 */
snapshot?: boolean
/**
 * Trace the kernel as well.
 */
kernel?: boolean
/**
 * Looks for binaries under this directory first.
 */
symfs?: string
workDoneToken?: ProgressToken
/**
 * Only this thread.
 */
tid?: number
/**
 * ns, with `snapshot`: one is saved, and the recording ends, when a call of the function took longer.
 */
slowerThan?: number
/**
 * Where sources are here: recorded folder to folder.
 */
sourceMap?: {
[k: string]: string
}
}
/**
 * Names one function. With `binary` and `address` it is exact; else `name` is looked up as the command line's --function and --binary.
 */
export interface FunctionSelector {
/**
 * Name: full, without parameters, or its last component.
 */
name: string
/**
 * Path or the end of one; empty: any.
 */
binary?: string
address?: Address
/**
 * All functions that answer to the name, together; `address` does not count then.
 */
all?: boolean
}
/**
 * The recording that was made or opened.
 */
export interface OpenResult {
recording: Recording
}
/**
 * A recording that is open. The command line prints the same object without `id`.
 */
export interface Recording {
/**
 * Names the open recording in later requests.
 */
id: string
/**
 * perf.data or the folder that holds it.
 */
path: string
/**
 * How it was made.
 */
backend: ("intel_pt" | "uprobe")
/**
 * Last minus first time of what was traced, ns
 */
trace_ns: number
/**
 * Union of the gaps, ns
 */
lost_ns: number
/**
 * Number of gaps.
 */
gaps: number
/**
 * Places where trace and code contradict each other.
 */
decode_errors: number
/**
 * Bytes of trace.
 */
trace_bytes: number
/**
 * Number of threads.
 */
threads: number
/**
 * Distance of timing packets, ns: a latency is known to ± this. null: the recording has no timing.
 */
resolution_ns: (number | null)
/**
 * Side-band records or samples that perf dropped.
 */
lost_records: number
/**
 * false: no context switches were recorded, off-CPU is unknown and not 0.
 */
off_cpu_known: boolean
/**
 * What the backend costs and cannot see, one line each.
 */
notes: string[]
missing: MissingBinary[]
thread_list: RecordedThread[]
}
/**
 * A mapped file whose code could not be read.
 */
export interface MissingBinary {
/**
 * As recorded.
 */
path: string
/**
 * Lower-case hexadecimal, empty where not recorded.
 */
build_id: string
/**
 * One line.
 */
reason: string
}
/**
 * One thread of a recording.
 */
export interface RecordedThread {
/**
 * Process.
 */
pid: number
/**
 * Thread.
 */
tid: number
/**
 * Its name.
 */
comm: string
/**
 * Instructions decoded, 0 with probes.
 */
instructions: number
/**
 * Last minus first time of what was traced, ns
 */
trace_ns: number
/**
 * Union of its gaps, ns
 */
lost_ns: number
/**
 * Gaps in its trace.
 */
gaps: number
}
/**
 * Open a recording.
 */
export interface OpenParams {
/**
 * perf.data or a directory that holds it.
 */
path: string
/**
 * Looks for binaries under this directory first.
 */
symfs?: string
/**
 * Names of the traced kernel's functions; empty: those of the recording's kcore_dir.
 */
kallsyms?: string
/**
 * The traced kernel's code; empty: beside kallsyms.
 */
kcore?: string
/**
 * Only this process of the recording; absent: all.
 */
pid?: number
/**
 * Lenses and hovers are of it from now on; absent: true.
 */
activate?: boolean
/**
 * Asked about first: ptlens/partial tells of it while the trace is decoded.
 */
function?: FunctionSelector
workDoneToken?: ProgressToken
/**
 * Where sources are here: recorded folder to folder.
 */
sourceMap?: {
[k: string]: string
}
}
export interface CloseParams {
/**
 * Of an open recording.
 */
id: string
}
/**
 * An empty object.
 */
export interface Nothing {

}
/**
 * Which open recording lenses and hovers are of. An opened one is so at once.
 */
export interface ActivateParams {
/**
 * Empty or absent: none.
 */
id?: string
/**
 * Another open one that it is compared with; empty or absent: none.
 */
baseline?: string
}
/**
 * What is kept of a recording, open or not.
 */
export interface StoreParams {
/**
 * As in ptlens/open.
 */
path: string
/**
 * As in ptlens/open.
 */
symfs?: string
/**
 * As in ptlens/open.
 */
kallsyms?: string
/**
 * As in ptlens/open.
 */
kcore?: string
/**
 * As in ptlens/open.
 */
pid?: number
/**
 * Removes it first.
 */
remove?: boolean
/**
 * Where sources are here: recorded folder to folder.
 */
sourceMap?: {
[k: string]: string
}
}
/**
 * The calls that were kept when the recording was opened before.
 */
export interface StoreResult {
/**
 * Where they are, or would be; empty where nothing can be written.
 */
path: string
/**
 * They would be used: opening decodes nothing.
 */
kept: boolean
/**
 * Why they would not be used; empty where they would.
 */
reason: string
/**
 * Of what is kept.
 */
bytes: number
/**
 * Kept calls.
 */
calls: number
/**
 * Of perf.data, which would be decoded.
 */
recording_bytes: number
/**
 * Paths of what was removed.
 */
removed: string[]
}
export interface FunctionsParams {
/**
 * Of an open recording.
 */
id: string
}
/**
 * What `ptlens functions --json` prints.
 */
export interface FunctionsResult {
recording: Recording
/**
 * Most inclusive time first.
 */
functions: FunctionSummary[]
}
/**
 * One row of the table of all functions.
 */
export interface FunctionSummary {
/**
 * Demangled name; [unknown] where nothing is known.
 */
name: string
/**
 * Path of the ELF file as recorded, empty where unknown.
 */
binary: string
address: AddressOrUnknown
/**
 * Source file of the declaration, empty without debug information.
 */
file: string
/**
 * Line of the declaration, 1-based, 0 without debug information.
 */
line: number
/**
 * Complete calls.
 */
complete: number
/**
 * Incomplete calls.
 */
incomplete: number
/**
 * Unwound calls.
 */
unwound: number
/**
 * Mean latency of complete calls, ns
 */
mean: number
/**
 * Latency of outermost activations, ns
 */
inclusive: number
/**
 * Latency minus children's, ns
 */
self: number
/**
 * Switched out, ns
 */
off_cpu: number
}
export interface ReportParams {
/**
 * Of an open recording.
 */
id: string
function: FunctionSelector
/**
 * Only calls that start within [low, high] ns of the start of the trace.
 * 
 * @minItems 2
 * @maxItems 2
 */
time?: [number, number]
/**
 * Only calls whose latency lies within [low, high] ns.
 * 
 * @minItems 2
 * @maxItems 2
 */
latency?: [number, number]
/**
 * Only this thread.
 */
tid?: number
/**
 * Only calls beneath this caller.
 */
ancestor?: Ancestor
/**
 * Also count inlined executions of a function that was called; decodes the trace again. Of a function that was only inlined they are always counted.
 */
inlined?: boolean
}
/**
 * Some caller up the stack.
 */
export interface Ancestor {
/**
 * Its name.
 */
name: string
/**
 * Its latency is at least this, ns
 */
low?: number
/**
 * Its latency is at most this, ns
 */
high?: number
}
/**
 * Everything about one function: what `ptlens report --json` prints.
 */
export interface Report {
recording: Recording
function: FunctionIdentity
calls: CallCounts
latency: Latency
corrected?: CorrectedLatency
on_cpu: OnCpu
off_cpu: OffCpu
outside_user_code: OutsideUserCode
self: SelfTime
/**
 * 100 x on-CPU of outermost activations / (trace time - lost time); 100 = one core.
 */
cpu_percent: number
/**
 * Powers of two, ascending.
 */
histogram: Bucket[]
/**
 * Most total latency first.
 */
callers: RelatedFunction[]
/**
 * Most total latency first.
 */
children: RelatedFunction[]
/**
 * Most calls first.
 */
threads: ThreadLatency[]
/**
 * Places where the function was inlined: most total latency first, those that cannot be counted last.
 */
inlined?: InlinedPlace[]
/**
 * With `inlined`; false: the function was inlined and never called, and all figures are of the executions of its inlined code.
 */
called?: boolean
/**
 * Whether code of the function was inlined somewhere, where the request did not ask for it.
 */
may_be_inlined?: boolean
/**
 * Of a report about all functions of a name: each, most calls first. `function` then has their common name.
 */
instances?: Instance[]
}
/**
 * A function. Its identity is (binary, address).
 */
export interface FunctionIdentity {
/**
 * Demangled name; [unknown] where nothing is known.
 */
name: string
/**
 * Path of the ELF file as recorded, empty where unknown.
 */
binary: string
address: AddressOrUnknown
/**
 * Source file of the declaration, empty without debug information.
 */
file: string
/**
 * Line of the declaration, 1-based, 0 without debug information.
 */
line: number
}
/**
 * How many calls ended how.
 */
export interface CallCounts {
/**
 * Calls in the statistics.
 */
complete: number
/**
 * One end missing, or a gap inside.
 */
incomplete: number
/**
 * Ended by an exception, longjmp or thread exit.
 */
unwound: number
}
/**
 * Wall time from entry to return over complete calls; percentiles are exact (nearest rank). All 0 when there is no complete call.
 */
export interface Latency {
/**
 * Arithmetic mean, ns
 */
mean: number
/**
 * Standard deviation of the population, ns
 */
stddev: number
/**
 * Shortest, ns
 */
min: number
/**
 * Longest, ns
 */
max: number
/**
 * Median, ns
 */
p50: number
/**
 * 90th percentile, ns
 */
p90: number
/**
 * 99th percentile, ns
 */
p99: number
/**
 * 99.9th percentile, ns
 */
p999: number
/**
 * Sum, ns
 */
total: number
/**
 * Nineteen of twenty latencies are right to within this, ns, either way
 */
resolution: number
}
/**
 * Latency without what probes took; of recordings by probes whose cost was measured.
 */
export interface CorrectedLatency {
/**
 * ns.
 */
mean: number
/**
 * ns, of the population.
 */
stddev: number
/**
 * ns.
 */
min: number
/**
 * ns.
 */
max: number
/**
 * ns.
 */
p50: number
/**
 * ns.
 */
p90: number
/**
 * ns.
 */
p99: number
/**
 * ns.
 */
p999: number
/**
 * ns.
 */
total: number
/**
 * Mean of what was taken off, ns a call.
 */
removed: number
/**
 * By how much that may be off, either way, ns a call.
 */
uncertainty: number
}
/**
 * Latency minus off-CPU, over complete calls.
 */
export interface OnCpu {
/**
 * Mean, ns
 */
mean: number
/**
 * Sum, ns
 */
total: number
}
/**
 * The part of latency during which the thread was switched out, over complete calls.
 */
export interface OffCpu {
/**
 * Mean over all complete calls, ns
 */
mean: number
/**
 * Sum, ns
 */
total: number
/**
 * Calls switched out at least once.
 */
calls: number
/**
 * Switch-outs.
 */
switches: number
/**
 * Part of total, waiting, ns
 */
blocked: number
/**
 * Part of total, runnable, ns
 */
preempted: number
}
/**
 * Time with tracing off, over complete calls: system calls, page faults, interrupts, off-CPU. 0 where probes measured.
 */
export interface OutsideUserCode {
/**
 * Mean, ns
 */
mean: number
/**
 * Sum, ns
 */
total: number
}
/**
 * Latency minus the children's latency, over complete calls.
 */
export interface SelfTime {
/**
 * Mean, ns
 */
mean: number
/**
 * Sum, ns
 */
total: number
}
/**
 * One bucket of a histogram of latency: [low, high).
 */
export interface Bucket {
/**
 * Lower bound, included, ns
 */
low: number
/**
 * Upper bound, excluded, ns
 */
high: number
/**
 * Complete calls in it.
 */
calls: number
/**
 * Of them, switched out at least once.
 */
off_cpu_calls: number
}
/**
 * A caller or a child, per (function, call site).
 */
export interface RelatedFunction {
/**
 * Demangled name; [unknown] where nothing is known.
 */
name: string
/**
 * Path of the ELF file as recorded, empty where unknown.
 */
binary: string
address: AddressOrUnknown
/**
 * Address of the call instruction.
 */
call_site: AddressOrUnknown
/**
 * Source file of the call site, empty without debug information.
 */
file: string
/**
 * Line of the call site, 0 without debug information.
 */
line: number
/**
 * Complete calls.
 */
calls: number
latency: Latency
off_cpu: OffCpu
/**
 * 100 = one core.
 */
cpu_percent: number
}
/**
 * The function on one thread.
 */
export interface ThreadLatency {
/**
 * Thread.
 */
tid: number
/**
 * Its name.
 */
comm: string
/**
 * Complete calls.
 */
calls: number
/**
 * Calls of it with an end missing or a gap inside.
 */
incomplete: number
/**
 * Calls of it ended by an exception, longjmp or thread exit.
 */
unwound: number
/**
 * Length of the union of the thread's gaps, ns.
 */
lost_ns: number
/**
 * Gaps in the thread's trace.
 */
gaps: number
latency: Latency
off_cpu: OffCpu
}
/**
 * A place where the compiler put the code of the function into another one's.
 */
export interface InlinedPlace {
/**
 * Demangled name of the function whose code holds the place.
 */
function: string
binary: string
/**
 * ELF virtual address of the place's entry.
 */
address: string
/**
 * Of the call that was replaced; empty without debug information.
 */
file: string
line: number
/**
 * Executions; null where the compiler mixed the code with its surroundings.
 */
calls: (CallCounts | null)
/**
 * null as calls.
 */
latency: (Latency | null)
}
/**
 * One of the functions that a report is about together.
 */
export interface Instance {
/**
 * Demangled name; [unknown] where nothing is known.
 */
name: string
/**
 * Path of the ELF file as recorded, empty where unknown.
 */
binary: string
address: AddressOrUnknown
/**
 * Source file of the declaration, empty without debug information.
 */
file: string
/**
 * Line of the declaration, 1-based, 0 without debug information.
 */
line: number
calls: CallCounts
latency: Latency
}
export interface LinesParams {
/**
 * Of an open recording.
 */
id: string
/**
 * Source file; matched by the end of its path.
 */
file: string
}
/**
 * What `ptlens lines --json` prints: what the editor draws in one file.
 */
export interface LinesResult {
recording: Recording
/**
 * As the debug information names it.
 */
file: string
/**
 * By line.
 */
functions: FileFunction[]
/**
 * By line.
 */
lines: LineCalls[]
/**
 * With --time alone; null: the recording has no trace.
 */
line_time?: (LineTimes | null)
}
/**
 * A function declared in the file.
 */
export interface FileFunction {
/**
 * Demangled name; [unknown] where nothing is known.
 */
name: string
/**
 * Path of the ELF file as recorded, empty where unknown.
 */
binary: string
address: AddressOrUnknown
/**
 * Source file of the declaration, empty without debug information.
 */
file: string
/**
 * Line of the declaration, 1-based, 0 without debug information.
 */
line: number
/**
 * Last line with code of the function, 0 without debug information.
 */
end_line: number
calls: CallCounts
latency: Latency
off_cpu: OffCpu
/**
 * 100 = one core.
 */
cpu_percent: number
}
/**
 * The calls made from one source line.
 */
export interface LineCalls {
/**
 * 1-based.
 */
line: number
/**
 * Complete calls.
 */
calls: number
/**
 * Mean latency, ns
 */
mean: number
/**
 * 99th percentile of latency, ns
 */
p99: number
/**
 * Sum of latency, ns
 */
total: number
/**
 * Incomplete calls.
 */
incomplete: number
/**
 * Unwound calls.
 */
unwound: number
off_cpu: OffCpu
/**
 * Most calls first.
 */
callees: LineCallee[]
}
/**
 * What a line calls.
 */
export interface LineCallee {
/**
 * Demangled name; [unknown] where nothing is known.
 */
name: string
/**
 * Path of the ELF file as recorded, empty where unknown.
 */
binary: string
address: AddressOrUnknown
/**
 * Complete calls.
 */
calls: number
/**
 * Mean latency, ns
 */
mean: number
}
/**
 * What `line_time` of `ptlens lines --time --json` is.
 */
export interface LineTimes {
/**
 * false: the trace has no timing, executions are counted.
 */
timed: boolean
/**
 * Stretches of code that a loss of trace cut: neither timed nor counted.
 */
cut: number
/**
 * That were executed, by line.
 */
lines: LineTime[]
/**
 * Most time first, the first thousand.
 */
blocks: LineBlock[]
/**
 * ns of the others.
 */
blocks_left_out: number
}
/**
 * One line of `ptlens lines --time`.
 */
export interface LineTime {
/**
 * 0: code of the functions at no line of the file.
 */
line: number
/**
 * How often it was reached: once in each stretch of straight code, not again where control comes back to it from a call.
 */
executions: number
/**
 * ns over all executions, that its own instructions certainly took: without what they call, without off-CPU time; null: the trace has no timing.
 */
at_least: (number | null)
/**
 * ns that they can have taken, with all code that no time tells apart from them.
 */
at_most: (number | null)
/**
 * Middle of both; null where the uncertainty is more than a third of it.
 */
time: (number | null)
/**
 * Half of the width between both: the true time is within time ± resolution.
 */
resolution: (number | null)
/**
 * Lines that most of the time between both bounds is shared with.
 */
shared_with: number[]
/**
 * And code that is not asked about, such as callees.
 */
shared_with_others: boolean
}
/**
 * Lines that no time tells apart.
 */
export interface LineBlock {
lines: number[]
/**
 * Nor from code that is not asked about.
 */
others: boolean
/**
 * ns, of the block as a whole.
 */
time: number
}
/**
 * Measures the time of the lines of a file by a pass of its own over the trace, remembers it, and from then on ptlens/annotations, hovers and inlay hints tell it.
 */
export interface LineTimeParams {
/**
 * Of an open recording.
 */
id: string
/**
 * Source file; matched by the end of its path.
 */
file: string
workDoneToken?: ProgressToken
}
export interface LineTimeResult {
/**
 * As the debug information names it.
 */
file: string
/**
 * null: the recording has no trace.
 */
line_time: (LineTimes | null)
}
/**
 * Lines of the text as the client shows it, of the active recording.
 */
export interface AnnotationsParams {
/**
 * Path as the client names it.
 */
file: string
/**
 * 1-based line of the present text; absent: the first.
 */
first?: number
/**
 * Included; absent: the last.
 */
last?: number
/**
 * Also answer how hot each line of the whole file is.
 */
heat?: boolean
}
/**
 * What stands at the ends of lines.
 */
export interface AnnotationsResult {
/**
 * Recording.
 */
id: string
text: TextState
/**
 * There is a recording that it is compared with: lines without `difference` have no calls in it.
 */
baseline: boolean
/**
 * As in Recording.
 */
off_cpu_known: boolean
/**
 * The recording has timing.
 */
timed: boolean
/**
 * Largest total latency of a line of the file.
 */
hottest: number
/**
 * Paths of the binaries that the file's functions are in.
 */
binaries: string[]
lines: LineAnnotation[]
heat?: Heat
}
/**
 * A line with calls, or with a time of its own.
 */
export interface LineAnnotation {
/**
 * 1-based line of the present text.
 */
line: number
/**
 * Present line of the function that holds it; 0: none with figures.
 */
function_line: number
/**
 * Complete calls made from the line.
 */
calls: number
/**
 * Latency.
 */
mean: number
/**
 * Latency.
 */
total: number
/**
 * Calls.
 */
incomplete: number
/**
 * Calls.
 */
unwound: number
/**
 * Total.
 */
off_cpu: number
/**
 * Its own text, or that of its function, is not what was measured.
 */
changed: boolean
/**
 * The binary was built anew since.
 */
old_binary: boolean
difference?: LineDifference
line_time?: AnnotatedLineTime
}
/**
 * From the baseline to the active recording.
 */
export interface LineDifference {
/**
 * Of the baseline's mean.
 */
mean_percent: number
mean: Verdict
/**
 * Signed.
 */
p99_ns: number
p99: Verdict
}
/**
 * As LineTime, at present lines.
 */
export interface AnnotatedLineTime {
/**
 * How often it was reached: once in each stretch of straight code, not again where control comes back to it from a call.
 */
executions: number
/**
 * ns over all executions, that its own instructions certainly took: without what they call, without off-CPU time; null: the trace has no timing.
 */
at_least: (number | null)
/**
 * ns that they can have taken, with all code that no time tells apart from them.
 */
at_most: (number | null)
/**
 * Middle of both; null where the uncertainty is more than a third of it.
 */
time: (number | null)
/**
 * Half of the width between both: the true time is within time ± resolution.
 */
resolution: (number | null)
/**
 * Ranges of lines: "10–14, 17"; empty: none.
 */
shared_with: string
/**
 * And code that is not asked about, such as callees.
 */
shared_with_others: boolean
}
/**
 * Columns: each line with calls, and its total latency.
 */
export interface Heat {
line: number[]
total: number[]
}
/**
 * Where a line that was measured is in the text as the client shows it.
 */
export interface PresentLineParams {
/**
 * The file as a result names it.
 */
recorded: string
/**
 * The same file as the client names it.
 */
file: string
/**
 * 1-based, as measured.
 */
line: number
}
export interface PresentLineResult {
/**
 * 1-based; null where it was removed.
 */
line: (number | null)
}
export interface FlameParams {
/**
 * Of an open recording.
 */
id: string
/**
 * Root of the graph; absent: all stacks.
 */
function?: FunctionSelector
/**
 * Nodes below this share of the root are merged into their parent; absent: 0.0005.
 */
smallest?: number
/**
 * Only calls whose latency lies within [low, high] ns.
 * 
 * @minItems 2
 * @maxItems 2
 */
latency?: [number, number]
/**
 * Only this thread.
 */
tid?: number
/**
 * Only calls beneath this caller.
 */
ancestor?: Ancestor
/**
 * Only calls that start within [low, high] ns of the start of the trace.
 * 
 * @minItems 2
 * @maxItems 2
 */
timeRange?: [number, number]
/**
 * Which time is counted; absent: wall.
 */
time?: TimeKind
}
/**
 * The flame graph: what `ptlens flame --format json` prints.
 */
export interface FlameResult {
recording: Recording
time: TimeKind
/**
 * The functions that occur.
 */
functions: FunctionIdentity[]
nodes: FlameNodes
}
/**
 * Calls merged by their stack, as columns of equal length. Node 0 is the root; parents come before children.
 */
export interface FlameNodes {
/**
 * Index of the parent node, -1 for the root.
 */
parent: number[]
/**
 * Index into `functions`, -1 for the root.
 */
function: number[]
/**
 * ns.
 */
inclusive: number[]
/**
 * ns; what was pruned below a node is counted here.
 */
self: number[]
/**
 * Calls.
 */
calls: number[]
}
export interface CallsParams {
/**
 * Of an open recording.
 */
id: string
function: FunctionSelector
/**
 * First call, 0.
 */
offset?: number
/**
 * Calls in the page, 10,000.
 */
limit?: number
/**
 * Only calls that start within [low, high] ns of the start of the trace.
 * 
 * @minItems 2
 * @maxItems 2
 */
time?: [number, number]
/**
 * Only calls whose latency lies within [low, high] ns.
 * 
 * @minItems 2
 * @maxItems 2
 */
latency?: [number, number]
/**
 * Only this thread.
 */
tid?: number
/**
 * Only calls beneath this caller.
 */
ancestor?: Ancestor
}
/**
 * One page of the selected calls.
 */
export interface CallsResult {
/**
 * Selected calls.
 */
total: number
/**
 * Of the first call in this page.
 */
offset: number
/**
 * The callers that occur in this page.
 */
functions: FunctionIdentity[]
columns: CallColumns
}
/**
 * One page of calls, as columns of equal length, ordered by start.
 */
export interface CallColumns {
/**
 * Thread.
 */
tid: number[]
/**
 * perf's clock, ns.
 */
start: number[]
/**
 * ns; a lower bound for incomplete calls.
 */
latency: number[]
/**
 * ns; the latency is right to within this, either way.
 */
resolution: number[]
/**
 * ns.
 */
off_cpu: number[]
/**
 * ns.
 */
self: number[]
/**
 * Index into `functions`, -1 where unknown.
 */
caller: number[]
/**
 * Call instruction.
 */
call_site: AddressOrUnknown[]
state: CallState[]
/**
 * Entered by a jump.
 */
tail_call: boolean[]
}
/**
 * Stop a recording now and keep it.
 */
export interface FinishParams {
/**
 * workDoneToken of the ptlens/record request.
 */
token: ProgressToken
}
/**
 * Whether a recording with that token was running.
 */
export interface FinishResult {
/**
 * false: nothing to finish.
 */
found: boolean
}
/**
 * `initializationOptions` of initialize.
 */
export interface InitializationOptions {
/**
 * Default of `symfs` in ptlens/open and ptlens/record.
 */
symfs?: string
/**
 * Default of `perf` in ptlens/record and ptlens/doctor.
 */
perf?: string
/**
 * Recording to open at the start; for editors without our extension.
 */
recording?: string
/**
 * Recording to compare it with.
 */
baseline?: string
/**
 * The client is our extension: it writes at the ends of lines by itself, and has commands for the links in hovers. No inlay hints are offered, nor the commands ptlens.open, ptlens.compare and ptlens.showFunction.
 */
integrated?: boolean
/**
 * Translations of what lenses, hovers and inlay hints say, by the English text with its placeholders {0}, {1}, …; what is missing stays English.
 */
words?: {
[k: string]: string
}
}
/**
 * LSP's, with the version of the own methods.
 */
export interface InitializeResult {
/**
 * Rises when a field is renamed, removed or changes its meaning.
 */
protocolVersion: 1
serverInfo: ServerInfo
/**
 * LSP ServerCapabilities.
 */
capabilities: {

}
}
export interface ServerInfo {
name: "ptlens"
/**
 * Of the helper.
 */
version: string
}
/**
 * Above a function with figures.
 */
export interface CodeLens {
range: Range
command: CodeLensCommand
}
/**
 * LSP.
 */
export interface Range {
start: Position
end: Position
}
/**
 * LSP: 0-based; UTF-16 code units.
 */
export interface Position {
/**
 * 0-based.
 */
line: number
/**
 * 0-based.
 */
character: number
}
export interface CodeLensCommand {
/**
 * e.g. `mean 1.23 µs · p50 … · p99 … · 10,000 calls`.
 */
title: string
command: "ptlens.showFunction"
/**
 * @minItems 1
 * @maxItems 1
 */
arguments: [ShowFunctionArguments]
}
/**
 * Argument of the command ptlens.showFunction of a code lens.
 */
export interface ShowFunctionArguments {
/**
 * Recording.
 */
id: string
/**
 * Demangled name; [unknown] where nothing is known.
 */
name: string
/**
 * Path of the ELF file as recorded, empty where unknown.
 */
binary: string
address: AddressOrUnknown
}
/**
 * Figures of the function or call-site line.
 */
export interface Hover {
contents: HoverContents
range: Range
}
export interface HoverContents {
kind: "markdown"
/**
 * Markdown.
 */
value: string
}
/**
 * At the end of a line with calls.
 */
export interface InlayHint {
position: Position
label: string
paddingLeft: boolean
}
export interface ShownReport {
/**
 * Of the file that is shown.
 */
path?: string
}
/**
 * LSP's.
 */
export interface ShowMessageParams {
type: number
message: string
}
/**
 * LSP's.
 */
export interface ShowDocumentParams {
uri: string
takeFocus: boolean
}
/**
 * $/progress.
 */
export interface ProgressParams {
token: ProgressToken
value: (ProgressBegin | ProgressReport | ProgressEnd)
}
export interface ProgressBegin {
kind: "begin"
title: string
cancellable: boolean
message?: string
percentage?: number
}
export interface ProgressReport {
kind: "report"
/**
 * Stage, rate and estimate.
 */
message?: string
percentage?: number
}
export interface ProgressEnd {
kind: "end"
message?: string
}
/**
 * ptlens/partial: what is known of the function that was asked about while its trace is decoded; after the first second, then twice a second.
 */
export interface PartialParams {
token: ProgressToken
report: PartialReport
}
/**
 * Exact for the part of the trace that was decoded. Percentiles come with the whole.
 */
export interface PartialReport {
function: FunctionIdentity
calls: CallCounts
/**
 * Of complete calls, ns.
 */
latency: {
mean: number
min: number
max: number
total: number
}
/**
 * Of complete calls, ns.
 */
off_cpu: {
total: number
}
histogram: Bucket[]
/**
 * Bytes of trace that were decoded.
 */
done: number
/**
 * Bytes of trace.
 */
total: number
}
/**
 * $/logTrace.
 */
export interface LogTraceParams {
message: string
verbose?: string
}
/**
 * `data` of every error that the helper's own work ends in.
 */
export interface ErrorData {
kind: ErrorKind
/**
 * File it concerns, empty where there is none.
 */
file: string
/**
 * Byte offset in that file, null where there is none.
 */
offset: (number | null)
/**
 * What the user can do, may be empty.
 */
remedy: string
}
/**
 * `data` of error -32602.
 */
export interface InvalidParamsData {
/**
 * Path of the bad field, e.g. `function.address`; empty: params itself.
 */
path: string
}
export interface ThreadsParams {
/**
 * Process.
 */
pid: number
}
/**
 * Threads of a process, busiest first.
 */
export interface ThreadsResult {
threads: ProcessThread[]
}
/**
 * A thread that could be measured.
 */
export interface ProcessThread {
/**
 * Thread.
 */
tid: number
/**
 * Short name.
 */
name: string
/**
 * Of one core, in the last fifth of a second.
 */
cpu_percent: number
}
/**
 * Makes a bundle of a recording: of an open one by its id, or of any by its path.
 */
export interface BundleParams {
/**
 * Of an open recording; either this or path is given.
 */
id?: string
/**
 * As in ptlens/open.
 */
path?: string
/**
 * As in ptlens/open.
 */
symfs?: string
/**
 * As in ptlens/open.
 */
kallsyms?: string
/**
 * As in ptlens/open.
 */
kcore?: string
/**
 * As in ptlens/open.
 */
pid?: number
/**
 * Where sources are here: recorded folder to folder.
 */
sourceMap?: {
[k: string]: string
}
/**
 * File to make.
 */
output: string
workDoneToken?: ProgressToken
}
export interface BundleResult {
/**
 * The bundle.
 */
path: string
/**
 * Its size.
 */
bytes: number
/**
 * Binaries in it.
 */
files: number
/**
 * Binaries that were not found, with the reason.
 */
missing: string[]
}
