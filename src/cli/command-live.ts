/** `weft live`: files into a running server. */
import { readFileSync } from "node:fs";
import { systemRandom } from "../base/random.ts";
import { type Client, postOrFail } from "../load/client.ts";
import { loadFiles } from "../load/load.ts";
import { Fault } from "../model/fault.ts";
import type { LiveOptions } from "./cli.ts";
import { openClient } from "./credentials.ts";
import { startProgressBar } from "./progress-bar.ts";
import { parseCount } from "./superflag.ts";

export async function runLive(options: LiveOptions): Promise<void> {
  const client = openClient(options);
  await setSchema(client, "/alter", options.schema);
  await setSchema(client, "/admin/schema", options.graphqlSchema);
  const bar = startProgressBar("loading", "facts");
  try {
    await loadFiles({
      files: options.files.split(",").filter((name) => name !== ""),
      batchSize: Math.max(1, parseCount("--batch", options.batch)),
      inFlightMax: Math.max(1, parseCount("--in-flight", options.inFlight)),
      client,
      random: systemRandom,
      onProgress: ({ bytesRead, bytesTotal, factCount }) =>
        bar.update(bytesRead, bytesTotal, factCount),
    });
  } finally {
    bar.finish();
  }
}

async function setSchema(client: Client, path: string, file: string | undefined): Promise<void> {
  if (file === undefined) return;
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new Fault("E_STARTUP", `${file} cannot be read`, { cause: error });
  }
  await postOrFail(client, path, "text/plain", text);
}
