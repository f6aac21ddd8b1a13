/** `weft top` and `weft kill`: what runs on a server now, and the end of it. */
import { Fault } from "../model/fault.ts";
import { type ListedRequest, listedFields } from "../model/listed-request.ts";
import type { KillOptions, TopOptions } from "./request-commands.ts";
import { makeAdminClient } from "./admin-client.ts";
import { parseDurationMs } from "./duration.ts";

export async function runTop(options: TopOptions): Promise<void> {
  const ask = makeAdminClient(options);
  const everyMs = options.every === undefined ? 0 : parseDurationMs("--every", options.every);
  for (;;) {
    const query = `query($tag: String) { runningRequests(tag: $tag) { ${listedFields} } }`;
    const data = await ask<{ runningRequests: readonly ListedRequest[] }>(query, {
      tag: options.tag ?? null,
    });
    // This very question runs, too.
    const running = data.runningRequests.filter(({ text }) => text?.includes(marker) !== true);
    const text = options.json ? `${JSON.stringify(running)}\n` : printTable(running);
    process.stdout.write(everyMs > 0 && process.stdout.isTTY ? clearScreen + text : text);
    if (everyMs === 0) return;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

const marker = "runningRequests(tag: $tag)";
const clearScreen = "\u001b[2J\u001b[H";

export async function runKill(ids: readonly string[], options: KillOptions): Promise<void> {
  const ask = makeAdminClient(options);
  const query =
    "mutation($input: CancelRequestsInput!) { cancelRequests(input: $input) { response { message } } }";
  const { tag } = options;
  if (ids.length === 0 && tag === undefined) {
    throw new Fault("E_USAGE", "which requests: give an id, or --tag");
  }
  const wishes = tag === undefined ? ids.map((id) => ({ id })) : [{ tag }];
  for (const input of wishes) {
    const data = await ask<{ cancelRequests: { response: { message: string } } }>(query, { input });
    process.stdout.write(`weft: ${data.cancelRequests.response.message}\n`);
  }
}

const textMax = 80;

function printTable(running: readonly ListedRequest[]): string {
  const head = ["ID", "TIME", "WORK", "MEMORY", "OPERATION", "BY", "TAG", "PROCESS", "TEXT"];
  const rows = running.map((one) => [
    one.id,
    `${(one.ms / 1000).toFixed(1)}s`,
    one.work.toLocaleString("en-US"),
    `${(one.bytes / 1024 / 1024).toFixed(1)}MB`,
    one.operation,
    one.user ?? one.key ?? one.address,
    one.tag ?? "",
    one.process,
    (one.text ?? "").slice(0, textMax),
  ]);
  const table = [head, ...rows];
  const widths = head.map((_, i) => Math.max(...table.map((row) => row[i]?.length ?? 0)));
  const lines = table.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("  "));
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}
