// The Functions view in the side bar: the functions of the active recording, sorted and filtered.
import * as vscode from "vscode";
import { ListView } from "../base/list-view";
import { formatCount } from "../base/units";
import type { Log } from "../errors/log";
import type { Client } from "../helper/client";
import type { FunctionSummary, FunctionsResult, Latency } from "../protocol/protocol";
import { shortName } from "../recordings/recording-entry";
import type { Session } from "../recordings/session";
import { ordered, orders, type Order } from "./function-order";
import { functionKey, selectorOf } from "./function-selector";
import { functionFigures } from "./function-text";

const mostRows = 1000;
/** p99 is requested for this many functions with the most time. */
const mostWithP99 = 200;

type Row = FunctionSummary | { readonly rest: number };

export class FunctionsView extends ListView<Row> {
  #result: FunctionsResult | undefined;
  #p99 = new Map<string, Latency>();
  #order: Order = "total";
  #filter = "";

  constructor(
    private readonly client: Client,
    private readonly session: Session,
    private readonly log: Log,
  ) {
    super("ptlens.functions", { canSelectMany: true });
    this.own(
      session.onDidChange(() => {
        this.#result = undefined;
        this.#p99 = new Map();
        this.#refresh();
      }),
      session.onDidChangeList(() => {
        const { opening } = session;
        this.view.message = opening === undefined ? "" : vscode.l10n.t("Opening {0}…", opening);
      }),
      this.view.onDidChangeVisibility(({ visible }) => {
        if (visible) void session.restore();
      }),
    );
    this.#refresh();
  }

  register(): vscode.Disposable[] {
    const command = (name: string, work: (row: Row | undefined, rows: readonly Row[] | undefined) => unknown): vscode.Disposable =>
      vscode.commands.registerCommand(`ptlens.functions.${name}`, work);
    return [
      command("sort", () => this.#sort()),
      command("filter", () => this.#askFilter()),
      command("clearFilter", () => {
        this.#setFilter("");
      }),
      command("measure", (row, rows) => vscode.commands.executeCommand("ptlens.measureSelected", this.#selectedFunctions(row, rows))),
    ];
  }

  protected override async rows(): Promise<Row[]> {
    const { recording } = this.session;
    if (recording === undefined) return [];
    try {
      this.#result ??= await this.client.request("ptlens/functions", { id: recording.id });
      if (this.#order === "p99") await this.#requestP99(recording.id, this.#result.functions);
    } catch (error) {
      this.log.report("list the functions", error);
      return [];
    }
    const found = ordered(this.#result.functions, this.#order, this.#filter, this.#p99);
    const shown = found.slice(0, mostRows);
    return found.length > shown.length ? [...shown, { rest: found.length - shown.length }] : shown;
  }

  override getTreeItem(row: Row): vscode.TreeItem {
    if ("rest" in row) return new vscode.TreeItem(vscode.l10n.t("{0} more. Filter by name to see them.", formatCount(row.rest)));
    const item = new vscode.TreeItem(shortName(row.name));
    item.id = functionKey(row);
    const resolution = this.#result?.recording.resolution_ns ?? null;
    item.description = functionFigures(row, { resolution_ns: resolution }, this.#order, this.#p99.get(functionKey(row)));
    item.tooltip = `${row.name}\n${row.binary}${row.file === "" ? "" : `\n${row.file}:${String(row.line)}`}`;
    item.contextValue = "function";
    item.iconPath = new vscode.ThemeIcon("symbol-function");
    const { name, binary, address } = row;
    item.command = { command: "ptlens.showFunction", title: vscode.l10n.t("Show"), arguments: [{ name, binary, address }] };
    return item;
  }

  #selectedFunctions(row: Row | undefined, rows: readonly Row[] | undefined): FunctionSummary[] {
    const chosen = rows ?? (row === undefined ? this.view.selection : [row]);
    return chosen.filter((each): each is FunctionSummary => !("rest" in each));
  }

  async #sort(): Promise<void> {
    const labels: Record<Order, string> = {
      total: vscode.l10n.t("Total time"),
      mean: vscode.l10n.t("Mean latency"),
      p99: vscode.l10n.t("99th percentile"),
      calls: vscode.l10n.t("Calls"),
      name: vscode.l10n.t("Name"),
    };
    const items = orders.map((order) => ({ label: labels[order], order, ...(order === this.#order ? { description: vscode.l10n.t("current") } : {}) }));
    const picked = await vscode.window.showQuickPick(items, { title: vscode.l10n.t("Sort functions by") });
    if (picked !== undefined) this.setOrder(picked.order);
  }

  setOrder(order: Order): void {
    this.#order = order;
    this.#refresh();
  }

  async #askFilter(): Promise<void> {
    const text = await vscode.window.showInputBox({
      title: vscode.l10n.t("Filter functions by name"),
      placeHolder: vscode.l10n.t("Words in the name"),
      value: this.#filter,
    });
    if (text !== undefined) this.#setFilter(text);
  }

  #setFilter(text: string): void {
    this.#filter = text.trim();
    void vscode.commands.executeCommand("setContext", "ptlens.functionsFiltered", this.#filter !== "");
    this.#refresh();
  }

  async #requestP99(id: string, functions: readonly FunctionSummary[]): Promise<void> {
    const missing = functions.slice(0, mostWithP99).filter((row) => row.complete > 0 && !this.#p99.has(functionKey(row)));
    await Promise.all(
      missing.map(async (row) => {
        const { latency } = await this.client.request("ptlens/report", { id, function: selectorOf(row) });
        this.#p99.set(functionKey(row), latency);
      }),
    );
  }

  #refresh(): void {
    const filter = this.#filter === "" ? "" : vscode.l10n.t("filter: {0}", this.#filter);
    this.view.description = [this.session.active?.name ?? "", filter].filter((part) => part !== "").join(" · ");
    this.redraw();
  }
}
