// Installs the VS Code of the editor tests (code-server) with the Node version that it needs. Does
// nothing if everything is installed.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const folder = path.dirname(fileURLToPath(import.meta.url));
const at = (...parts) => path.join(folder, ...parts);
const vscode = at("node_modules", "code-server", "lib", "vscode");
const readJson = (file) => JSON.parse(readFileSync(file, "utf8"));

function npm(...args) {
  const npmScript = process.env.npm_execpath;
  const [program, first] = npmScript?.endsWith(".js") ? [process.execPath, [npmScript]] : ["npm", []];
  execFileSync(program, [...first, ...args, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
}

function topInStep() {
  const wanted = readJson(at("package.json")).dependencies;
  return Object.entries(wanted).every(([name, version]) => {
    const manifest = at("node_modules", name, "package.json");
    return existsSync(manifest) && readJson(manifest).version === version;
  });
}

if (!topInStep()) {
  console.log("Set-up: installing the browser's VS Code for the editor tests (about 900 MB)");
  npm("ci");
}
// `npm ci` above removes these nested packages. npm writes the list last, so that an interrupted run is repeated.
if (!existsSync(path.join(vscode, "node_modules", ".package-lock.json"))) {
  npm("ci", "--prefix", vscode, "--omit=dev", "--legacy-peer-deps");
}
