// Which actions a failure offers. The kind of the failure alone decides.
import * as l10n from "@vscode/l10n";
import type { FailureKind } from "./failure";

/** Actions that a message offers as buttons. */
export type ErrorButton = "checkMachine" | "chooseProcess" | "grantPermissions" | "manageTrust" | "openRecording" | "openSettings" | "showActions";

/** `chooseFunction` needs no button: the candidates are shown at once (see functions/candidates.ts). */
export type ErrorAction = ErrorButton | "chooseFunction";

export const errorActions: Readonly<Record<FailureKind, readonly ErrorAction[]>> = {
  ambiguous: ["chooseFunction"],
  bad_input: [],
  bad_recording: ["openRecording"],
  bad_request: [],
  cancelled: [],
  failed: ["checkMachine"],
  gone: ["chooseProcess"],
  helper_ended: [],
  helper_unusable: ["openSettings"],
  no_rights: ["grantPermissions"],
  not_found: ["showActions"],
  not_now: ["showActions"],
  unsupported: ["checkMachine"],
  untrusted: ["manageTrust"],
};

export interface Button {
  readonly label: string;
  readonly command: string;
  readonly arguments: readonly unknown[];
}

/** Returns the buttons of a message about a failure of this kind. */
export function errorButtons(kind: FailureKind): Button[] {
  return errorActions[kind].filter((action) => action !== "chooseFunction").map(buttonOf);
}

function buttonOf(action: ErrorButton): Button {
  const button = (label: string, command: string, ...args: unknown[]): Button => ({ label, command, arguments: args });
  switch (action) {
    case "checkMachine":
      return button(l10n.t("Check This Machine"), "ptlens.doctor");
    case "chooseProcess":
      return button(l10n.t("Choose Another Process…"), "ptlens.measureLatency");
    case "grantPermissions":
      return button(l10n.t("Grant Permissions…"), "ptlens.grantRights");
    case "manageTrust":
      return button(l10n.t("Manage Workspace Trust"), "workbench.trust.manage");
    case "openRecording":
      return button(l10n.t("Open Another Recording…"), "ptlens.openRecording");
    case "openSettings":
      return button(l10n.t("Open Settings"), "workbench.action.openSettings", "ptlens.helperPath");
    case "showActions":
      return button(l10n.t("Show Actions"), "ptlens.actions");
  }
}
