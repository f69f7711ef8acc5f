import * as l10n from "@vscode/l10n";

/** Returns the name of a backend as users read it. */
export function backendName(backend: "intel_pt" | "uprobe"): string {
  return backend === "intel_pt" ? "Intel PT" : l10n.t("probes");
}
