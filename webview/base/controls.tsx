// Buttons, links and headings that all views use.
import * as l10n from "@vscode/l10n";
import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import type { FunctionRef } from "../../extension/src/panel/panel-messages";
import { post, reveal } from "./host";
import { baseName, shortName } from "./names";

interface ButtonProps {
  readonly children: ComponentChildren;
  readonly onClick: () => void;
  readonly title?: string;
  readonly disabled?: boolean;
  readonly primary?: boolean;
}

/** A button of VS Code's look. */
export function Button({ children, onClick, title, disabled = false, primary = false }: ButtonProps): JSX.Element {
  const press = (): void => {
    if (!disabled) onClick();
  };
  return (
    <vscode-button class="btn" secondary={!primary} disabled={disabled} aria-disabled={disabled} title={title} onClick={press}>
      {children}
    </vscode-button>
  );
}

/** A button that looks like a link. */
export function Link({ children, onClick, title, small = false, code = false }: Omit<ButtonProps, "primary"> & { small?: boolean; code?: boolean }): JSX.Element {
  const click = (event: MouseEvent): void => {
    event.stopPropagation();
    onClick();
  };
  return (
    <button type="button" class={`link${small ? " small" : ""}${code ? " mono" : ""}`} title={title} onClick={click}>
      {children}
    </button>
  );
}

/** A link to a source line; `fallback` without debug information. */
export function SourceLink({ file, line, fallback = "" }: { readonly file: string; readonly line: number; readonly fallback?: string | undefined }): JSX.Element {
  if (file === "") return <span class="dim mono">{fallback}</span>;
  const place = `${file}:${String(line)}`;
  return (
    <Link title={place} onClick={() => { reveal(file, line); }}>
      {`${baseName(file)}:${String(line)}`}
    </Link>
  );
}

/** A link that shows a function in the panel. */
export function FunctionLink({ of }: { readonly of: FunctionRef }): JSX.Element {
  const { name, binary, address } = of;
  if (address === null) return <span class="mono" title={name}>{shortName(name)}</span>;
  return (
    <Link code title={name} onClick={() => { post({ type: "function", function: { name, binary, address } }); }}>
      {shortName(name)}
    </Link>
  );
}

/** Measures a function in the same process. */
export function DeeperLink({ of }: { readonly of: FunctionRef }): JSX.Element {
  const { name, binary, address } = of;
  return (
    <Link small title={l10n.t("Measure {0} in the same process", name)} onClick={() => { post({ type: "goDeeper", function: { name, binary, address } }); }}>
      {l10n.t("Go Deeper")}
    </Link>
  );
}

/** What the context menu of the panel needs to offer Go Deeper. */
export function menuContext({ name, binary, address }: FunctionRef): string {
  return JSON.stringify({ name, binary, address, webviewSection: "function", preventDefaultContextMenuItems: true });
}

export interface Choice<T extends string> {
  readonly value: T;
  readonly label: string;
  readonly title?: string;
}

/** Buttons, one of them pressed. */
export function Segments<T extends string>({ choices, chosen, onChoose }: { readonly choices: readonly Choice<T>[]; readonly chosen: T; readonly onChoose: (value: T) => void }): JSX.Element {
  return (
    <span class="seg" role="group">
      {choices.map(({ value, label, title }) => (
        <button type="button" key={value} title={title} aria-pressed={value === chosen} onClick={() => { onChoose(value); }}>
          {label}
        </button>
      ))}
    </span>
  );
}

/** A sentence of the helper, in which names are between backticks. `strong`: its most important words. */
export function Sentence({ text, strong = "" }: { readonly text: string; readonly strong?: string }): JSX.Element {
  const at = strong === "" ? -1 : text.indexOf(strong);
  if (at >= 0) return <><Sentence text={text.slice(0, at)} /><b><Sentence text={strong} /></b><Sentence text={text.slice(at + strong.length)} /></>;
  return <>{text.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>;
}

export function Icon({ name }: { readonly name: string }): JSX.Element {
  return <span class={`codicon codicon-${name}`} aria-hidden="true" />;
}

/** The colors of the three states of a thread. */
export function Legend({ lost = false }: { readonly lost?: boolean }): JSX.Element {
  return (
    <span class="keys">
      <span><i class="on" />{l10n.t("on-CPU")}</span>
      <span><i class="blk" />{l10n.t("blocked")}</span>
      <span><i class="pre" />{l10n.t("preempted")}</span>
      {lost ? <span><i class="lost" />{l10n.t("lost")}</span> : null}
    </span>
  );
}

interface SectionProps {
  readonly name: string;
  readonly title: string;
  readonly right?: ComponentChildren;
  readonly children: ComponentChildren;
  /** The same figures as a table, for a chart. */
  readonly table?: () => JSX.Element;
}

const asTable = signal<ReadonlySet<string>>(new Set());

/** A heading with its content. A chart has a link that shows its table instead. */
export function Section({ name, title, right, children, table }: SectionProps): JSX.Element {
  const isTable = table !== undefined && asTable.value.has(name);
  const toggle = (): void => {
    const next = new Set(asTable.value);
    if (!next.delete(name)) next.add(name);
    asTable.value = next;
  };
  return (
    <section data-section={name} aria-label={title}>
      <div class="head">
        <h2 tabIndex={-1}>{title}</h2>
        <span class="grow" />
        {right}
        {table === undefined ? null : (
          <Link small title={l10n.t("The same figures as a table")} onClick={toggle}>
            {isTable ? l10n.t("Chart") : l10n.t("Table")}
          </Link>
        )}
      </div>
      {isTable ? table() : children}
    </section>
  );
}
