/** `weft serve --backup`: a server that archives its own store. */
import * as fs from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { cleanUp, makeFolder, post, rdf, runWeft, startServer, waitUntil } from "./server.ts";

afterAll(cleanUp);

interface Backup {
  readonly archived_commit: number;
  readonly last_success?: string;
  readonly problem?: string;
}

async function healthOf(url: string): Promise<Backup> {
  const [node] = (await (await fetch(`${url}/health`)).json()) as [{ backup: Backup }];
  return node.backup;
}

async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (.+)$`, "m").exec(text)?.[1]);
}

const word = (value: string): string => `{ set { _:n <word> "${value}" . } }`;

test("what was written before the end is archived, and any of it is restored", async () => {
  const folder = makeFolder();
  const [data, backups] = [join(folder, "data"), join(folder, "backups")];
  const flags = ["--no-sample", "--backup", `to=dir:${backups}; every=100ms; keep=2`];
  const server = await startServer({ dataDir: data, flags });
  await waitUntil(async () => (await healthOf(server.url)).last_success !== undefined, 20_000);
  const { archived_commit: before } = await healthOf(server.url);
  await post(`${server.url}/mutate?commitNow=true`, word("seen"), rdf);
  await waitUntil(async () => (await healthOf(server.url)).archived_commit > before, 20_000);
  expect(await metric(server.url, "weft_backup_archived_commit")).toBeGreaterThan(before);
  expect(await metric(server.url, "weft_backup_last_success_seconds")).toBeGreaterThan(1e9);
  expect(await metric(server.url, "weft_backup_failures_total")).toBe(0);
  await post(`${server.url}/mutate?commitNow=true`, word("the last word"), rdf);
  expect(await server.stop()).toBe(0);
  const copy = join(folder, "copy");
  expect((await runWeft(["restore", "--from", backups, "--data", copy])).code).toBe(0);
  const { stdout } = await runWeft(["export", "--data", copy, "--to", "-"]);
  expect(stdout).toContain("the last word");
}, 60_000);

test("a place that cannot be written is told in /health, in metrics and in the log; the server serves on", async () => {
  const folder = makeFolder();
  const [data, backups] = [join(folder, "data"), join(folder, "backups")];
  fs.writeFileSync(backups, "in the way");
  const flags = ["--no-sample", "--backup", `to=dir:${backups}; every=100ms`];
  const server = await startServer({ dataDir: data, flags });
  await waitUntil(async () => (await healthOf(server.url)).problem !== undefined, 20_000);
  expect(await healthOf(server.url)).toMatchObject({
    archived_commit: 0,
    problem: expect.stringContaining("backups") as string,
  });
  expect(await metric(server.url, "weft_backup_failures_total")).toBeGreaterThan(0);
  expect(server.output()).toContain("the archive falls behind");
  const made = await post(`${server.url}/mutate?commitNow=true`, word("safe"), rdf);
  expect(made.json["data"]).toBeDefined();
  fs.rmSync(backups);
  await waitUntil(async () => (await healthOf(server.url)).problem === undefined, 20_000);
  await server.stop();
}, 60_000);

test("the process that archives is started again when it dies, and goes on", async () => {
  const folder = makeFolder();
  const [data, backups] = [join(folder, "data"), join(folder, "backups")];
  const flags = ["--no-sample", "--workers", "1", "--backup", `to=dir:${backups}; every=100ms`];
  const server = await startServer({ dataDir: data, flags });
  await waitUntil(async () => (await healthOf(server.url)).last_success !== undefined, 20_000);
  const { archived_commit: before } = await healthOf(server.url);
  const archiving = server
    .childPids()
    .find((pid) => fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("backup"));
  process.kill(archiving!, "SIGKILL");
  const made = await post(`${server.url}/mutate?commitNow=true`, word("behind"), rdf);
  expect(made.json["data"]).toBeDefined();
  await waitUntil(async () => (await healthOf(server.url)).archived_commit > before, 20_000);
  expect(server.output()).toContain("started again");
  await server.stop();
  const { stdout } = await runWeft(["backup", "list", "--to", backups, "--json"]);
  const copy = join(folder, "copy");
  expect((await runWeft(["restore", "--from", backups, "--data", copy])).code).toBe(0);
  expect(JSON.parse(stdout)).toHaveLength(1);
  const exported = await runWeft(["export", "--data", copy, "--to", "-"]);
  expect(exported.stdout).toContain("behind");
}, 60_000);

test("settings that cannot be are told in a line", async () => {
  for (const [settings, line] of [
    ["every=5s", "--backup: to says where"],
    ["to=ftp://x", "is no place for backups"],
    ["to=dir:/tmp/x; every=1ms", "--backup every: 100ms at least"],
    ["to=dir:/tmp/x; keep=0", "--backup keep: 1 at least"],
    ["to=dir:/tmp/x; often=yes", 'unknown key "often"'],
  ] as const) {
    const args = ["serve", "--data", join(makeFolder(), "data"), "--backup", settings];
    const { code, stderr } = await runWeft(args);
    expect([settings, code, stderr]).toEqual([settings, 2, expect.stringContaining(line)]);
  }
});
