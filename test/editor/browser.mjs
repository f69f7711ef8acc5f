// The browser of the editor tests, of the screenshots and of the panel's benchmark.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

function browserPath() {
  const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/snap/bin/chromium"];
  const found = process.env.PTLENS_BROWSER ?? places.find((place) => existsSync(place));
  if (found === undefined) throw new Error("There is no Chromium: install the package chromium, or set PTLENS_BROWSER.");
  return found;
}

export const launch = () =>
  chromium.launch({
    executablePath: browserPath(),
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
