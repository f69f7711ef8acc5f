import * as l10n from "@vscode/l10n";

/** Returns the name of a backend as users read it. */
export function backendName(backend: "intel_pt" | "uftrace" | "uprobe"): string {
  if (backend === "uprobe") return l10n.t("probes");
  return backend === "intel_pt" ? "Intel PT" : "uftrace";
}
