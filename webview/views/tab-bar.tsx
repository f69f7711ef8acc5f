// The tabs: a click, the digits 1 to 6, or the arrow keys change between them.
import * as l10n from "@vscode/l10n";
import type { JSX } from "preact";
import { tab, type TabName } from "../state/store";

export interface TabItem {
  readonly name: TabName;
  readonly title: string;
}

export function tabItems(): TabItem[] {
  return [
    { name: "overview", title: l10n.t("Overview") },
    { name: "flame", title: l10n.t("Flame graph") },
    { name: "why", title: l10n.t("Why slow") },
    { name: "calls", title: l10n.t("Calls") },
    { name: "timeline", title: l10n.t("Timeline") },
    { name: "change", title: l10n.t("Change") },
  ];
}

export function TabBar({ items }: { readonly items: readonly TabItem[] }): JSX.Element {
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    const index = items.findIndex(({ name }) => name === tab.value);
    const next = items[(index + step + items.length) % items.length];
    if (next !== undefined) tab.value = next.name;
    event.preventDefault();
    const buttons = (event.currentTarget as HTMLElement).querySelectorAll("button");
    buttons[(index + step + items.length) % items.length]?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={l10n.t("Views")} onKeyDown={onKeyDown}>
      {items.map(({ name, title }, index) => (
        <button
          type="button"
          role="tab"
          key={name}
          id={`tab-${name}`}
          title={l10n.t("{0} (key {1})", title, index + 1)}
          aria-selected={name === tab.value}
          aria-controls="view"
          tabIndex={name === tab.value ? 0 : -1}
          onClick={() => { tab.value = name; }}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
