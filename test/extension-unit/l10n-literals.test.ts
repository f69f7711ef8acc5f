// No text for people is written into the sources without being given to the translation: what reads like
// words, and what stands where VS Code or the page shows it.
import { strict as assert } from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";

const root = path.resolve(__dirname, "../..");

/** Fields of VS Code's and the page's objects that are shown. */
const shownFields = /^(label|description|detail|title|tooltip|prompt|placeHolder|placeholder|saveLabel|openLabel|message|text|textContent|ariaLabel)$/;
/** Functions that show their arguments, or make elements of them. */
const showing = /^(show(Information|Warning|Error)Message|setStatusBarMessage|appendText|appendMarkdown|Error|HelperUnusable|HelperEnded|TreeItem|el|link|table)$/;
/** Written to the log, which is in English where it is not what the user was told. */
const logging = /\b(log|channel|console)(\.channel)?\.(info|warn|error|debug|trace)$/;
/** Names, units and examples that are the same in all languages. */
const proper = /PT Lens|Intel PT|\(command:[\w.]+\)|\$\([\w-]+\)|\bp(50|90|99|99\.9)\b|\b\d*\.?\d+ (ns|µs|ms|s)\b|\b(ns|µs|ms|s|[KMGT]i?B)\b/g;
/** What reads like words and is not shown: told by file and text. */
const unshown = new Set([
  "processes-view.ts: process locked", // a context value
  "hierarchy.ts: The columns of the flame graph differ in length.", // the helper contradicts itself
  "hierarchy.ts: Node  of the flame graph has no parent before it.",
  "hierarchy.ts: The flame graph has no root.",
  "flame-graph.ts: (prefers-reduced-motion: reduce)", // CSS
  "symbol-name.ts: (anonymous namespace)", // of C++
]);

function nameOf(expression: ts.Node): string {
  if (ts.isPropertyAccessExpression(expression)) return expression.name.text;
  return ts.isIdentifier(expression) ? expression.text : "";
}

function isTranslation(node: ts.Node): node is ts.CallExpression {
  return ts.isCallExpression(node) && /^(t|noted)$/.test(nameOf(node.expression));
}

/** The letters of a literal or a template without what is put into it. */
function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  return ts.isTemplateExpression(node) ? [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join("") : undefined;
}

/** Where the value of an expression goes: through what chooses or joins it. */
function shownAt(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node && shownFields.test(parent.name.getText());
  if (ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.EqualsToken) {
    return parent.right === node && shownFields.test(nameOf(parent.left));
  }
  if (ts.isCallExpression(parent) || ts.isNewExpression(parent)) {
    const name = nameOf(parent.expression);
    const first = parent.arguments?.[0] === node;
    // The first argument of `el` is the tag.
    return parent.expression !== node && showing.test(name) && !(name === "el" && first);
  }
  if (ts.isConditionalExpression(parent)) return parent.condition !== node && shownAt(parent);
  const passesOn = ts.isParenthesizedExpression(parent) || ts.isArrayLiteralExpression(parent) || ts.isBinaryExpression(parent) || ts.isTemplateSpan(parent) || ts.isTemplateExpression(parent) || ts.isSpreadElement(parent);
  return passesOn && shownAt(parent);
}

/** Texts for people that are not translated. */
function untranslated(name: string, source: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (isTranslation(node)) {
      node.arguments.slice(1).forEach(visit);
      return;
    }
    if (ts.isImportDeclaration(node) || ts.isLiteralTypeNode(node) || ts.isRegularExpressionLiteral(node)) return;
    if (ts.isCallExpression(node) && logging.test(node.expression.getText())) return;
    const text = textOf(node);
    if (text !== undefined && !text.trimStart().startsWith("<")) {
      const words = text.replace(proper, " ");
      const prose = /\p{L}{2,}[,:;.]?\s+\p{L}{2,}/u.test(words);
      const className = ts.isPropertyAssignment(node.parent) && node.parent.name.getText() === "className";
      if (!className && (prose || (/\p{L}{2,}/u.test(words) && shownAt(node)))) found.push(`${name}: ${text}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(name, source, ts.ScriptTarget.Latest, true));
  return found;
}

describe("texts in the sources", () => {
  for (const folder of ["extension/src", "webview"]) {
    it(`are all given to the translation in ${folder}`, () => {
      const files = readdirSync(path.join(root, folder)).filter((name) => name.endsWith(".ts") && !name.endsWith(".generated.ts"));
      const found = files.flatMap((name) => untranslated(name, readFileSync(path.join(root, folder, name), "utf8")));
      assert.deepEqual(found.filter((each) => !unshown.has(each)), []);
    });
  }

  it("are seen where they are not", () => {
    const seen = (source: string): string[] => untranslated("a.ts", source);
    assert.deepEqual(seen('const a = { label: "Measure" };'), ["a.ts: Measure"]);
    assert.deepEqual(seen('item.tooltip = busy ? "Stop" : t("Start");'), ["a.ts: Stop"]);
    assert.deepEqual(seen("const a = { description: `${n} threads` };"), ["a.ts:  threads"]);
    assert.deepEqual(seen('vscode.window.showErrorMessage("Broken");'), ["a.ts: Broken"]);
    assert.deepEqual(seen('const rest = ["Nothing was measured"];'), ["a.ts: Nothing was measured"]);
    assert.deepEqual(seen('const a = t("The task {0}", failed ? "has failed" : t("runs"));'), ["a.ts: has failed"]);
    assert.deepEqual(seen('el("p", { className: "on key" }, t("All"));'), []);
    assert.deepEqual(seen('const a = { label: `$(pulse) ${t("Measure")}`, value: "5 ms" };'), []);
    assert.deepEqual(seen('this.log.channel.warn("the helper has ended");'), []);
  });
});
