import * as vscode from "vscode";

/** A view in the side bar with a flat list of rows. */
export abstract class ListView<Row> implements vscode.TreeDataProvider<Row>, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly #subscriptions: { dispose(): unknown }[];
  readonly onDidChangeTreeData = this.#changed.event;
  readonly view: vscode.TreeView<Row>;

  protected constructor(id: string, options: { readonly canSelectMany?: boolean } = {}) {
    this.view = vscode.window.createTreeView<Row>(id, { treeDataProvider: this, ...options });
    this.#subscriptions = [this.view, this.#changed];
  }

  protected abstract rows(): vscode.ProviderResult<Row[]>;
  abstract getTreeItem(row: Row): vscode.TreeItem;

  getChildren(parent?: Row): vscode.ProviderResult<Row[]> {
    return parent === undefined ? this.rows() : [];
  }

  /** Requests the rows again. */
  protected redraw(): void {
    this.#changed.fire(undefined);
  }

  /** Disposes these together with the view. */
  protected own(...disposables: readonly vscode.Disposable[]): void {
    this.#subscriptions.push(...disposables);
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}
