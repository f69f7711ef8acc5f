// Workspaces for the tests in the extension host: one with two folders with different values of the same settings, and
// one that is not trusted, whose settings name programs to run.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

const json = (file, value) => {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(value, null, 2));
};

function program(file) {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, '#!/bin/sh\necho "$0" "$@" >> "$PTLENS_TEST_RESULT.started"\n');
  chmodSync(file, 0o755);
}

/** Makes a workspace with the folders "shop" and "library". Returns its .code-workspace file. */
export function makeTwoFolders(scratch) {
  const root = path.join(scratch, "two-folders");
  for (const [name, seconds] of [["shop", 3], ["library", 7]]) {
    const folder = path.join(root, name);
    program(path.join(folder, "build", "run"));
    writeFileSync(path.join(folder, "main.cpp"), "int main() { return 0; }\n");
    json(path.join(folder, ".vscode", "settings.json"), {
      "ptlens.duration": seconds,
      "ptlens.symfs": "${workspaceFolder}/root",
      "ptlens.sourceMap": { [`/built/${name}`]: "${workspaceFolder}" },
      "ptlens.show": name === "shop" ? "lens" : "none",
    });
    json(path.join(folder, ".vscode", "launch.json"), {
      version: "0.2.0",
      configurations: [{ name: "Run", type: "cppdbg", request: "launch", program: "${workspaceFolder}/build/run", cwd: "${workspaceFolder:shop}" }],
    });
    json(path.join(folder, ".vscode", "tasks.json"), {
      version: "2.0.0",
      tasks: [{ label: "run", type: "process", command: "${workspaceFolder}/build/run" }],
    });
  }
  const workspace = path.join(root, "both.code-workspace");
  json(workspace, { folders: [{ path: "shop" }, { path: "library" }] });
  return workspace;
}

/** Makes a folder and returns it. Its program writes to $PTLENS_TEST_RESULT.started when it runs. */
export function makeUntrustedFolder(scratch) {
  const folder = path.join(scratch, "untrusted");
  const run = path.join(folder, "build", "run");
  program(run);
  json(path.join(folder, ".vscode", "settings.json"), {
    "ptlens.symfs": path.join(folder, "root"),
    "ptlens.helperPath": run,
    "ptlens.perfPath": run,
  });
  return folder;
}
