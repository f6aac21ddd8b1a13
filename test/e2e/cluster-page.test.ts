/**
 * The walk-through of `docs/cluster.md`, replayed: its commands make the certificates, begin a log, start three machines and
 * hand the lead over, with ports of their own; what they print has the form that the page shows.
 */
import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { must } from "../../src/base/assert.ts";
import { findFreePort } from "../support/free-port.ts";
import { cleanUp, makeFolder, post, root, runWeft, waitUntil, weft } from "./server.ts";

const page = readFileSync(join(root, "docs", "cluster.md"), "utf8");
const groups: number[] = [];

afterAll(async () => {
  for (const group of groups) signal(group, "SIGKILL");
  await cleanUp();
});

function signal(group: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(-group, name);
  } catch {
    return false;
  }
}

interface Step {
  readonly command: string;
  readonly prints: string;
}

/** Commands of a terminal, with what they print. */
function readSteps(text: string): readonly Step[] {
  return text.split(/^\$ /m).flatMap((part) => {
    if (part.trim() === "") return [];
    const [first = "", ...lines] = part.split("\n");
    const more = lines.findIndex((line) => !line.startsWith("> "));
    const command = [first, ...lines.slice(0, more).map((line) => line.slice(2))].join("\n");
    return [{ command, prints: lines.slice(more).join("\n") }];
  });
}

function blockOf(kind: string, word: string): string {
  const blocks = [...page.matchAll(/^ *```(\w+)\n([^`]*)^ *```/gm)];
  const found = blocks.find(([, language, text]) => language === kind && text?.includes(word));
  return must(found?.[2], `the page has a block of ${kind} with ${word}`);
}

/** Identities and numbers are others each time; columns are as wide as they have to be; any of the machines may lead. */
function formOf(text: string): string {
  const form = text
    .replaceAll(/[0-9a-f]{32}/g, "ID")
    .replaceAll(/\d+/g, "N")
    .replaceAll(/ {2,}/g, "  ");
  return form.replace(/(?:^db.*\n?)+/gm, (rows) => rows.trim().split("\n").sort().join("\n"));
}

interface Shell {
  /** Resolves with all that it printed; what it leaves running goes on. */
  run(command: string): Promise<string>;
}

function openShell(folder: string): Shell {
  symlinkSync(weft, join(folder, "weft"));
  const env = { ...process.env, PATH: `${folder}:${process.env["PATH"] ?? ""}` };
  return {
    run: (command) =>
      new Promise((resolve) => {
        const shell = spawn("sh", ["-c", command], { cwd: folder, env, detached: true });
        let printed = "";
        for (const stream of [shell.stdout, shell.stderr]) {
          stream.on("data", (piece: Buffer) => (printed += piece.toString()));
        }
        groups.push(must(shell.pid, "it is started"));
        shell.once("close", () => resolve(printed));
      }),
  };
}

/** By the page's commands, where there is what they need. */
async function makeCertificates(folder: string, shell: Shell): Promise<void> {
  if (spawnSync("openssl", ["version"]).status === 0) {
    const commands = blockOf("sh", "openssl").replaceAll("db1", "local");
    await shell.run(commands.replace("DNS:local.internal", "IP:127.0.0.1"));
    return;
  }
  for (const [from, to] of [
    ["cluster-authority.pem", "ca.pem"],
    ["cluster-node.pem", "local.pem"],
    ["cluster-node.key", "local.key"],
  ] as const) {
    copyFileSync(join(root, "test", "certificates", from), join(folder, to));
  }
}

/** Who leads, by the port of its HTTP; undefined: not all of them are there yet. */
async function findLeader(ports: readonly number[]): Promise<number | undefined> {
  const query = "{ cluster { role members { node } } }";
  let leader: number | undefined;
  for (const port of ports) {
    const { json } = await post(`http://127.0.0.1:${port}/admin`, { query });
    const cluster = json["data"]?.["cluster"];
    if (cluster?.["members"]?.length !== ports.length) return undefined;
    if (String(cluster["role"]) === "leading") leader = port;
  }
  return leader;
}

test("three machines on one", async () => {
  const folder = makeFolder();
  const shell = openShell(folder);
  await makeCertificates(folder, shell);
  const [http, peers] = [[], []] as [number[], number[]];
  for (let n = 0; n < 3; n++) {
    http.push(await findFreePort());
    peers.push(await findFreePort());
  }
  for (const [name, ports] of [
    ["http", http],
    ["peers", peers],
  ] as const) {
    writeFileSync(join(folder, name), ports.map((port) => `${port}\n`).join(""));
  }
  const [begin, start, status, resign, ...others] = readSteps(blockOf("console", "resign"));
  expect(others).toEqual([]);
  const play = async (step: Step | undefined, ports: Readonly<Record<string, string>>) => {
    const { command, prints } = must(step, "the page shows it");
    const own = Object.entries(ports).reduce(
      (text, [shown, port]) => text.replaceAll(shown, () => port),
      command,
    );
    for (const shown of Object.keys(ports)) expect(command).toContain(shown);
    expect(formOf(await shell.run(own)).trim()).toBe(formOf(prints).trim());
  };
  await play(begin, {});
  await play(start, { "808$n": "$(sed -n ${n}p http)", "744$n": "$(sed -n ${n}p peers)" });
  let leader: number | undefined;
  await waitUntil(async () => {
    leader = await findLeader(http).catch(() => undefined);
    return leader !== undefined;
  }, 60_000);
  const follower = must(
    http.find((port) => port !== leader),
    "of three",
  );
  // A machine says some moments after it has connected that it could lead.
  await waitUntil(async () => {
    const asked = await runWeft(["cluster", "status", "--to", `http://127.0.0.1:${follower}`]);
    return !asked.stdout.includes("it has just connected");
  }, 20_000);
  // Which of them leads is left open.
  await play(status, { "8082": String(follower) });
  await play(resign, { "8081": String(leader) });
  for (const group of groups) signal(group, "SIGTERM");
  await waitUntil(() => groups.every((group) => !signal(group, "SIGCONT")), 20_000);
}, 120_000);
