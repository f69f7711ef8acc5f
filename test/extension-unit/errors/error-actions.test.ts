import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import path from "node:path";
import { errorActions, errorButtons } from "../../../extension/src/errors/error-actions";
import { ExtensionError, failureOf, type FailureKind } from "../../../extension/src/errors/failure";

const root = path.resolve(__dirname, "../..");
const readJson = (file: string): unknown => JSON.parse(readFileSync(path.join(root, file), "utf8"));

/** The buttons of the message about a failure of each kind. */
const table: Readonly<Record<FailureKind, readonly string[]>> = {
  // The candidates are shown at once, without a message.
  ambiguous: [],
  bad_input: ["Try Again"],
  bad_recording: ["Open Another Recording…"],
  bad_request: ["Restart Helper"],
  cancelled: [],
  failed: ["Try Again", "Check This Machine"],
  gone: ["Choose Another Process…"],
  helper_ended: [],
  helper_unusable: ["Open Settings"],
  no_rights: ["Grant Permissions…", "Try Again"],
  not_found: ["Try Again", "Show Actions"],
  not_now: ["Show Actions"],
  unsupported: ["Check This Machine"],
  untrusted: ["Manage Workspace Trust"],
};

describe("the actions of an error", () => {
  for (const [kind, labels] of Object.entries(table) as [FailureKind, readonly string[]][]) {
    it(`of kind ${kind}: ${labels.join(", ") || "none"}`, () => {
      assert.deepEqual(errorButtons({ kind }, true).map(({ label }) => label), labels);
    });
  }

  it("are none, or the log alone, only where the user ended the work or another message follows", () => {
    const none = Object.entries(table).filter(([, labels]) => labels.length === 0).map(([kind]) => kind);
    assert.deepEqual(none, ["ambiguous", "cancelled", "helper_ended"]);
  });

  it("are those that the error names, and Try Again only if the command can run again", () => {
    const failure = failureOf(new ExtensionError("not_now", "busy", { actions: ["stop", "tryAgain"] }));
    assert.deepEqual(errorButtons(failure, true).map(({ label }) => label), ["Stop and Show Results", "Try Again"]);
    assert.deepEqual(errorButtons(failure, false).map(({ command }) => command), ["ptlens.finish"]);
  });

  it("let the user choose a function only if its name is ambiguous", () => {
    const kinds = Object.entries(errorActions).filter(([, actions]) => actions.includes("chooseFunction"));
    assert.deepEqual(kinds.map(([kind]) => kind), ["ambiguous"]);
  });

  it("are defined for every kind of the protocol", () => {
    const { definitions } = readJson("extension/protocol.schema.json") as { definitions: { ErrorKind: { enum: string[] } } };
    assert.deepEqual(definitions.ErrorKind.enum.filter((kind) => !(kind in errorActions)), []);
  });

  it("run commands of the extension or of VS Code", () => {
    const { contributes } = readJson("package.json") as { contributes: { commands: { command: string }[] } };
    const commands = new Set(contributes.commands.map(({ command }) => command));
    const used = (Object.keys(table) as FailureKind[]).flatMap((kind) => errorButtons({ kind }, false).flatMap(({ command }) => command ?? []));
    assert.deepEqual(used.filter((command) => !commands.has(command) && !command.startsWith("workbench.")), []);
  });
});
