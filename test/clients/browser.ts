/** A real browser for tests: Chromium, as a package of npm ships it, or the one that WEFT_CHROMIUM names. */
import { rmSync } from "node:fs";
import chromium from "@sparticuz/chromium";
import { type Browser, chromium as driver, type Page } from "playwright-core";

/** No window, and no sandbox: root has none, and every page here is this project's own. */
const flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];

export async function openBrowser(): Promise<Browser> {
  const own = process.env["WEFT_CHROMIUM"];
  if (own !== undefined) return await launch(own);
  if (process.platform !== "linux" || process.arch !== "x64") {
    throw new Error(
      "WEFT_CHROMIUM: the package has a browser for Linux on x64 alone; name another",
    );
  }
  // It is packed, and unpacked beside other temporary files: what an unfinished run has left there is no browser.
  const file = await chromium.executablePath();
  try {
    return await launch(file);
  } catch {
    rmSync(file, { force: true });
    return await launch(await chromium.executablePath());
  }
}

async function launch(executablePath: string): Promise<Browser> {
  return await driver.launch({ executablePath, args: flags, headless: true });
}

export interface WatchedPage {
  readonly page: Page;
  /** What the page has complained of so far: its policy, scripts that fail, files that are not there. */
  readonly complaints: readonly string[];
}

export async function openPage(
  browser: Browser,
  theme: "light" | "dark",
  width = 1280,
): Promise<WatchedPage> {
  const context = await browser.newContext({
    colorScheme: theme,
    viewport: { width, height: 800 },
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text().slice(0, 300));
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  return { page, complaints };
}
