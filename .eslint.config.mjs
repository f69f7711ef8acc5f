import path from "node:path";
import { fileURLToPath } from "node:url";
import eslint from "@eslint/js";
import tseslint from "typescript-eslint";

const root = path.dirname(fileURLToPath(import.meta.url));
const nodeGlobals = {
  AbortSignal: "readonly",
  Buffer: "readonly",
  URL: "readonly",
  URLSearchParams: "readonly",
  clearTimeout: "readonly",
  console: "readonly",
  fetch: "readonly",
  process: "readonly",
  setTimeout: "readonly",
  clearInterval: "readonly",
  setInterval: "readonly",
};

export default tseslint.config(
  { ignores: ["**/node_modules/", "out/", "helper/build*/", "test/artifacts/", "**/*.generated.ts"] },
  eslint.configs.recommended,
  {
    files: ["**/*.ts", "**/*.tsx"],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: root } },
    rules: {
      "@typescript-eslint/explicit-module-boundary-types": "error",
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      "no-restricted-properties": ["error", { property: "innerHTML" }, { property: "outerHTML" }],
      eqeqeq: "error",
    },
  },
  { files: ["**/*.mjs"], languageOptions: { globals: nodeGlobals } },
  // Holds functions that Playwright runs inside the page.
  { files: ["test/editor/workbench/*.mjs"], languageOptions: { globals: { document: "readonly", getComputedStyle: "readonly" } } },
);
