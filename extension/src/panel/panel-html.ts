// The page of the panel. Scripts run only with the nonce, and the page loads nothing from outside.
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";

export function panelHtml(webview: vscode.Webview, media: vscode.Uri): string {
  const nonce = randomBytes(16).toString("base64url");
  const script = webview.asWebviewUri(vscode.Uri.joinPath(media, "webview.js")).toString();
  const style = webview.asWebviewUri(vscode.Uri.joinPath(media, "webview.css")).toString();
  const policy = `default-src 'none'; style-src ${webview.cspSource}; font-src ${webview.cspSource}; script-src 'nonce-${nonce}'`;
  return `<!DOCTYPE html>
<html lang="${vscode.l10n.bundle === undefined ? "en" : vscode.env.language}">
<head>
  <meta charset="utf-8">
  <meta http-equiv="Content-Security-Policy" content="${policy}">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <link rel="stylesheet" href="${style}">
  <title>PT Lens</title>
</head>
<body>
  <div id="panel"></div>
  <script type="application/json" id="translations">${scriptText(vscode.l10n.bundle ?? {})}</script>
  <script nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}

/** Returns JSON as the text of a script element, which no string in it can end. */
function scriptText(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c");
}
