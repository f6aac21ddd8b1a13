/** `weft sample`: the packages that Weft was made from, or those of a project, into a running server. */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadSample } from "../load/npm-packages.ts";
import { type NpmPackage, readNpmTree } from "../load/npm-tree.ts";
import { Fault } from "../model/fault.ts";
import type { SampleOptions } from "./live-commands.ts";
import { openClient } from "./credentials.ts";
import { say } from "./log.ts";
import { packageFolder } from "./places.ts";
import { showProgress } from "./progress-bar.ts";

export async function runSample(options: SampleOptions): Promise<void> {
  const packages = options.npm === undefined ? readShippedPackages() : readProject(options.npm);
  const counts = await showProgress({ title: "loading the sample", unit: "facts" }, (bar) =>
    loadSample({
      packages,
      client: openClient(options),
      secret: randomBytes(32).toString("base64url"),
      onProgress: (done, total) => bar.update(done, total, done),
    }),
  );
  say(`the sample holds ${counts.packageCount} packages`);
  if (!counts.hasLambda) {
    say("the server has no lambda server: Package.bytesBelow and why() are left out");
  }
}

function readProject(project: string): NpmPackage[] {
  if (!existsSync(join(project, "node_modules"))) {
    throw new Fault("E_STARTUP", `${project} has no node_modules`);
  }
  return readNpmTree(project);
}

/** As they lay on a disk once: the same for everyone, so that the answers of the documentation are. */
function readShippedPackages(): NpmPackage[] {
  const file = join(packageFolder, "sample", "packages.json");
  return JSON.parse(readFileSync(file, "utf8")) as NpmPackage[];
}
