// Words for what a thread waited for.
import * as l10n from "@vscode/l10n";
import type { FunctionIdentity } from "../../extension/src/panel/panel-messages";

export type WaitReason = NonNullable<FunctionIdentity["waits_for"]>;

export function waitWord(reason: WaitReason, likely = false): string {
  const words: Record<WaitReason, string> = {
    lock: l10n.t("lock wait"), sleep: l10n.t("sleep"), disk: l10n.t("disk wait"), network: l10n.t("network wait"), pipe: l10n.t("pipe wait"), poll: l10n.t("poll"),
    page_fault: l10n.t("page fault"), process: l10n.t("child process"), signal: l10n.t("signal"), preempted: l10n.t("preempted"), unknown: l10n.t("off-CPU"),
  };
  return likely ? l10n.t("likely {0}", words[reason]) : words[reason];
}
