// Which actions a failure offers: those that it names, else those of its kind.
import * as l10n from "@vscode/l10n";
import type { ErrorAction, ErrorButton, Failure, FailureKind } from "./failure";

export const errorActions: Readonly<Record<FailureKind, readonly ErrorAction[]>> = {
  ambiguous: ["chooseFunction"],
  bad_input: ["tryAgain"],
  bad_recording: ["openRecording"],
  bad_request: ["restartHelper"],
  cancelled: [],
  failed: ["tryAgain", "checkMachine"],
  gone: ["chooseProcess"],
  // The message about its end offers to restart it (see measure/helper-exit.ts).
  helper_ended: [],
  helper_unusable: ["openSettings"],
  no_rights: ["grantPermissions", "tryAgain"],
  not_found: ["tryAgain", "showActions"],
  not_now: ["showActions"],
  unsupported: ["checkMachine"],
  untrusted: ["manageTrust"],
};

export interface Button {
  readonly label: string;
  /** Absent: runs the failed command again. */
  readonly command?: string;
  readonly arguments: readonly unknown[];
}

/** Returns the buttons of a message about a failure. `canRepeat`: whether the command can run again. */
export function errorButtons({ kind, actions }: Pick<Failure, "kind" | "actions">, canRepeat: boolean): Button[] {
  return (actions ?? errorActions[kind])
    .filter((action) => action !== "chooseFunction")
    .filter((action) => canRepeat || action !== "tryAgain")
    .map(buttonOf);
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
    case "measure":
      return button(l10n.t("Measure Latency"), "ptlens.measureLatency");
    case "openRecording":
      return button(l10n.t("Open Another Recording…"), "ptlens.openRecording");
    case "openSettings":
      return button(l10n.t("Open Settings"), "workbench.action.openSettings", "ptlens.helperPath");
    case "restartHelper":
      return button(l10n.t("Restart Helper"), "ptlens.restartHelper");
    case "showActions":
      return button(l10n.t("Show Actions"), "ptlens.actions");
    case "stop":
      return button(l10n.t("Stop and Show Results"), "ptlens.finish");
    case "tryAgain":
      return { label: l10n.t("Try Again"), arguments: [] };
  }
}
