// Set-up: installs what is missing on Debian and Ubuntu and says what it installs. Where nothing is missing it does
// nothing and prints nothing. `npm start` needs the packages that build the helper; --test, --editor, --lint and --bench
// add the packages that only those commands need, and --node adds the npm packages.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { asRoot, at, capture, isMain, main, onPath, root, runBeside, runLines, say, StepError, together } from "./steps.mjs";

const oldestCompiler = 12;
export const clangVersion = 19; // formats the tree, and compiles sample programs in the tests

const buildPackages = [
  "g++", "cmake", "ninja-build", "pkg-config", "libipt-dev", "nlohmann-json3-dev", "libdw-dev", "libelf-dev",
  "libcli11-dev", "libfmt-dev", "libzydis-dev", "libzstd-dev", "libiberty-dev", "robin-map-dev", "libxxhash-dev",
  "libarchive-dev", "libdebuginfod-dev",
];
const testPackages = ["libgtest-dev", "binutils", "xz-utils"];
const benchPackages = ["libbenchmark-dev"];
const liveBenchPackages = ["libsqlite3-dev", "bpftrace"];
const editorPackages = ["fonts-dejavu-core"];
const measurePackages = ["uftrace"];

const isUbuntu = () => existsSync("/etc/os-release") && /^ID=ubuntu$/m.test(readFileSync("/etc/os-release", "utf8"));
const works = (program, ...args) => capture(program, args).status === 0;

function installed(packages) {
  const { stdout } = capture("dpkg-query", ["-W", "-f=${Package} ${db:Status-Status}\n", ...packages]);
  const present = new Set(stdout.split("\n").filter((line) => line.endsWith(" installed")).map((line) => line.split(" ")[0]));
  return (name) => present.has(name);
}

const known = (name) => capture("apt-cache", ["show", name]).stdout !== "";

// Ubuntu's perf is a wrapper that wants the tools of exactly the running kernel; perf itself does not.
function useAnyPerf() {
  if (works("perf", "--version")) return true;
  for (const folder of ["/usr/lib/linux-tools", "/usr/lib/linux-tools-" + capture("uname", ["-r"]).stdout.trim()]) {
    for (const name of existsSync(folder) ? [".", ...readdirSync(folder)] : []) {
      if (!works(path.join(folder, name, "perf"), "--version")) continue;
      process.env.PATH = path.join(folder, name) + path.delimiter + process.env.PATH;
      return true;
    }
  }
  return false;
}

// The packages that are missing for what is asked, in the order of the lists above.
function missingPackages({ test, editor, lint, bench, liveBench, measure }) {
  const wanted = [
    ...buildPackages,
    ...(test || lint ? testPackages : []),
    ...(bench || lint ? benchPackages : []),
    ...(liveBench ? liveBenchPackages : []),
    ...(editor ? editorPackages : []),
    ...(test || measure ? measurePackages : []),
  ];
  const has = installed(wanted);
  const missing = wanted.filter((name) => !has(name));
  if (!useAnyPerf()) missing.push(...(isUbuntu() ? ["linux-tools-common", "linux-tools-generic"] : ["linux-perf"]));
  if (editor && !["chromium", "chromium-browser", "google-chrome"].some(onPath)) {
    missing.push(isUbuntu() ? "chromium-browser" : "chromium");
  }
  if (test || lint) {
    const tools = ["clang-format", ...(test ? ["clang"] : []), ...(lint ? ["clang-tidy"] : [])];
    missing.push(...tools.map((name) => `${name}-${clangVersion}`).filter((name) => !onPath(name)));
  }
  return missing;
}

async function installPackages(wants) {
  if (!onPath("apt-get") || !onPath("dpkg-query")) {
    const missing = ["g++", "cmake", "ninja", "pkg-config", "perf"].filter((name) => !onPath(name));
    if (missing.length === 0) return;
    throw new StepError(`set-up can only use apt: install ${missing.join(", ")} and these libraries: ${buildPackages.slice(4).join(", ")}`);
  }
  const missing = missingPackages(wants);
  if (missing.length === 0) return;
  say(`Set-up: installing ${missing.join(" ")}`);
  const apt = asRoot(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", "-o", "DPkg::Lock::Timeout=400"]);
  const line = `apt-get install --no-install-recommends ${missing.join(" ")}`;
  if (!apt) throw new StepError(`set-up needs root to install packages: run as root: ${line}`);
  const [program, ...args] = apt;
  const aptGet = async (...words) => {
    const messages = [];
    const status = await runLines(program, [...args, ...words], (text) => messages.push(text), { stdio: ["inherit", "pipe", "pipe"] });
    if (status === 0) return;
    const reasons = messages.filter((text) => text.startsWith("E: "));
    throw new StepError(`apt-get ${words[0]} failed: ${(reasons.length > 0 ? reasons : messages.slice(-3)).join(" ")}; try by hand: ${line}`);
  };
  await aptGet("update");
  // Without clang and uftrace what needs them is skipped; the build does not need them.
  const optional = (name) => (name.startsWith("clang-") || measurePackages.includes(name)) && !known(name);
  missing.filter(optional).forEach((name) => say(`Set-up: this release has no package ${name}; what needs it is skipped`));
  const wanted = missing.filter((name) => !optional(name));
  if (wanted.length > 0) await aptGet("install", "-y", "--no-install-recommends", ...wanted);
  if (!useAnyPerf()) say("Set-up: perf does not run on this kernel; install a perf that does to measure");
}

function checkCompiler() {
  const compiler = process.env.CXX ?? "g++";
  const version = Number.parseInt(capture(compiler, ["-dumpversion"]).stdout, 10);
  if (Number.isNaN(version)) throw new StepError(`${compiler} does not run: install g++ ${oldestCompiler} or newer`);
  if (version < oldestCompiler && !/clang/.test(compiler)) {
    throw new StepError(`${compiler} is version ${version}, PT Lens needs ${oldestCompiler} (C++23): install g++-${oldestCompiler} and set CXX=g++-${oldestCompiler}`);
  }
}

// True when node_modules holds exactly what package-lock.json says (npm writes what it installed to
// node_modules/.package-lock.json).
function packagesInStep(folder) {
  const read = (name) => JSON.parse(readFileSync(path.join(folder, name), "utf8")).packages;
  try {
    const have = read("node_modules/.package-lock.json");
    return Object.entries(read("package-lock.json")).every(
      ([name, entry]) => name === "" || entry.optional || entry.link || have[name]?.version === entry.version,
    );
  } catch {
    return false;
  }
}

async function installNodePackages() {
  if (packagesInStep(root)) return;
  say("Set-up: installing the npm packages of package-lock.json");
  const args = ["ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"];
  const npm = process.env.npm_execpath;
  const [program, first] = npm?.endsWith(".js") ? [process.execPath, [npm]] : ["npm", []];
  await runBeside(program, [...first, ...args]);
}

// Probes are set through tracefs; some machines and most containers do not mount it.
function mountTracefs() {
  const folder = "/sys/kernel/tracing";
  try {
    if (!existsSync(folder) || readdirSync(folder).length > 0) return;
    if (existsSync("/sys/kernel/debug/tracing/uprobe_events")) return;
  } catch {
    return; // mounted, and not ours to read
  }
  const mount = asRoot(["mount", "-t", "tracefs", "tracefs", folder]);
  if (!mount) return;
  say(`Set-up: mounting tracefs at ${folder}`);
  const [program, ...args] = mount;
  if (capture(program, args, { stdio: ["inherit", "pipe", "pipe"] }).status !== 0) {
    say("Set-up: tracefs cannot be mounted here; measuring with probes will not work");
  }
}

function checkNode() {
  if (Number.parseInt(process.versions.node, 10) < 20) {
    throw new StepError(`Node ${process.versions.node} is too old: PT Lens needs Node 20 or newer`);
  }
}

// Installs the Debian and the npm packages at the same time. wants: node (npm packages), test, editor (a browser and a
// VS Code in it), lint, bench, liveBench (a library to measure), measure (uftrace, and probes can be set).
export async function setUp(wants = {}) {
  checkNode();
  const needsNode = wants.node || wants.test || wants.lint || wants.editor;
  await together(installPackages(wants), needsNode ? installNodePackages() : undefined);
  checkCompiler();
  if (wants.test || wants.measure) mountTracefs();
}

// Installs the VS Code of the editor tests.
export const installEditor = () => runBeside(process.execPath, [at("test/editor/install.mjs")]);

if (isMain(import.meta)) {
  const has = (flag) => process.argv.includes(flag);
  await main(async () => {
    await setUp({ node: has("--node"), test: has("--test"), editor: has("--editor"), lint: has("--lint"), bench: has("--bench"), measure: true });
    if (has("--editor")) await installEditor();
  });
}
