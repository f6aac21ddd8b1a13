/** `weft sample`: the packages of a project into a running server. */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { loadSample } from "../load/npm-packages.ts";
import { Fault } from "../model/fault.ts";
import type { SampleOptions } from "./cli.ts";
import { openClient } from "./credentials.ts";
import { say } from "./log.ts";
import { startProgressBar } from "./progress-bar.ts";

export async function runSample(options: SampleOptions): Promise<void> {
  if (!existsSync(join(options.npm, "node_modules"))) {
    throw new Fault("E_STARTUP", `${options.npm} has no node_modules`);
  }
  const bar = startProgressBar("loading the sample", "facts");
  const counts = await loadSample({
    project: options.npm,
    client: openClient(options),
    secret: randomBytes(32).toString("base64url"),
    onProgress: (done, total) => bar.update(done, total, done),
  });
  bar.finish();
  say(`the sample holds ${counts.packageCount} packages`);
  if (!counts.hasLambda) {
    say("the server has no lambda server: Package.bytesBelow and why() are left out");
  }
}
