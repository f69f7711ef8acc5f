// Set-up: installs what is missing on Debian and Ubuntu and says what. Does nothing, and says nothing,
// where everything is there. --test, --editor and --lint add what only those need.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { asRoot, at, capture, isMain, main, onPath, root, run, say, StepError } from "./steps.mjs";

const oldestCompiler = 12;
export const clangVersion = 19; // the formatter that the tree is formatted with, and a second compiler of sample programs

const buildPackages = [
  "g++", "cmake", "ninja-build", "pkg-config", "libipt-dev", "nlohmann-json3-dev", "libdw-dev", "libelf-dev",
  "libcli11-dev", "libfmt-dev", "libgtest-dev", "libbenchmark-dev", "libzydis-dev", "libzstd-dev", "libiberty-dev",
  "robin-map-dev", "libxxhash-dev", "libarchive-dev", "libdebuginfod-dev",
];
const testPackages = ["binutils", "xz-utils"];
const editorPackages = ["fonts-dejavu-core"];

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
function missingPackages({ test, editor, lint }) {
  const wanted = [...buildPackages, ...(test ? testPackages : []), ...(editor ? editorPackages : [])];
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

function installPackages(wants) {
  if (!onPath("apt-get") || !onPath("dpkg-query")) {
    const lacking = ["g++", "cmake", "ninja", "pkg-config", "perf"].filter((name) => !onPath(name));
    if (lacking.length === 0) return;
    throw new StepError(`set-up knows apt only: install ${lacking.join(", ")} and the libraries that README.md names`);
  }
  const missing = missingPackages(wants);
  if (missing.length === 0) return;
  say(`Set-up: installing ${missing.join(" ")}`);
  const apt = asRoot(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", "-o", "DPkg::Lock::Timeout=400"]);
  const line = `apt-get install --no-install-recommends ${missing.join(" ")}`;
  if (!apt) throw new StepError(`set-up needs root to install packages: run as root: ${line}`);
  const [program, ...args] = apt;
  const quietly = (...words) => {
    const result = capture(program, [...args, ...words], { stdio: ["inherit", "pipe", "pipe"] });
    if (result.status === 0) return;
    const reason = result.stderr.split("\n").filter((text) => /^E: /.test(text)).join(" ");
    throw new StepError(`apt-get ${words[0]} failed: ${reason || result.stderr.trim().slice(-300)}; try by hand: ${line}`);
  };
  quietly("update");
  // A formatter that this release does not have costs the format check, not the build.
  const optional = (name) => name.startsWith("clang-") && !known(name);
  missing.filter(optional).forEach((name) => say(`Set-up: ${name} is not to be had here; what needs it is skipped`));
  const wanted = missing.filter((name) => !optional(name));
  if (wanted.length > 0) quietly("install", "-y", "--no-install-recommends", ...wanted);
  if (!useAnyPerf()) say("Set-up: perf does not run on this kernel; measuring needs a perf that does");
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

function installNodePackages() {
  if (packagesInStep(root)) return;
  say("Set-up: installing the npm packages of package-lock.json");
  const args = ["ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"];
  const npm = process.env.npm_execpath;
  if (npm?.endsWith(".js")) run(process.execPath, [npm, ...args]);
  else run("npm", args);
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

// wants.test: for the tests; wants.editor: a browser and a VS Code in it; wants.lint: for npm run lint.
export function setUp(wants = {}) {
  checkNode();
  installPackages(wants);
  checkCompiler();
  installNodePackages();
  if (wants.editor) run(process.execPath, [at("test/editor/install.mjs")]);
  if (wants.test || wants.measure) mountTracefs();
}

if (isMain(import.meta)) {
  const has = (flag) => process.argv.includes(flag);
  await main(() => setUp({ test: has("--test"), editor: has("--editor"), lint: has("--lint"), measure: true }));
}
