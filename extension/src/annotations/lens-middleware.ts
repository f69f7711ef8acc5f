// Between the helper's answers and the editor: lenses only where they are wanted.
import type { Middleware } from "vscode-languageclient/node";
import { annotationSettings } from "./annotation-settings";

export const lensMiddleware: Middleware = {
  provideCodeLenses: async (document, token, next) => (annotationSettings(document.uri).lens ? next(document, token) : []),
};
