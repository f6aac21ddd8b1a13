/** `backup`, `listBackups` and their tasks at /admin. */
import * as fs from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  cleanUp,
  makeFolder,
  post,
  rdf,
  runWeft,
  startServer,
  waitUntil,
  type TestServer,
} from "./server.ts";

let server: TestServer;
const folder = makeFolder();
const data = join(folder, "data");

beforeAll(async () => {
  server = await startServer({ dataDir: data, flags: ["--no-sample", "--workers", "2"] });
  await post(`${server.url}/mutate?commitNow=true`, '{ set { _:n <word> "kept" . } }', rdf);
});
afterAll(cleanUp);

interface Answer {
  readonly data: {
    readonly backup?: { readonly response: object; readonly taskId: string };
    readonly listBackups?: readonly Record<string, unknown>[];
    readonly task?: { readonly kind: string; readonly status: string };
  } | null;
  readonly errors?: readonly { readonly message: string }[];
}

async function admin(query: string): Promise<Answer> {
  return (await post(`${server.url}/admin`, { query })).json as unknown as Answer;
}

const backUp = (input: string): Promise<Answer> =>
  admin(`mutation { backup(input: {${input}}) { response { code message } taskId } }`);
const list = (input: string): Promise<Answer> =>
  admin(`{ listBackups(input: {${input}}) { backupId backupNum encrypted path since type } }`);
const messageOf = ({ errors }: Answer): string => errors?.[0]?.message ?? "";

test("a backup is a task; what it made is listed and restored", async () => {
  for (const count of [1, 2]) {
    const { taskId, response } = (await backUp('destination: "nightly"')).data!.backup!;
    expect(response).toEqual({ code: "Success", message: `Backup queued with ID ${taskId}` });
    await waitUntil(async () => {
      const { data: told } = await admin(`{ task(input: {id: "${taskId}"}) { kind status } }`);
      expect(told!.task!.kind).toBe("Backup");
      expect(told!.task!.status).not.toBe("Failed");
      return told!.task!.status === "Success";
    }, 20_000);
    const { listBackups } = (await list('location: "nightly"')).data!;
    expect(listBackups?.map(({ backupNum }) => backupNum)).toEqual(count === 1 ? [1] : [2, 1]);
    expect(listBackups?.[0]).toMatchObject({ encrypted: false, type: "full" });
    expect(listBackups?.[0]?.["since"]).toBeGreaterThan(0);
  }
  const place = join(data, "backups", "nightly");
  const copy = join(folder, "copy");
  expect((await runWeft(["restore", "--from", place, "--data", copy])).code).toBe(0);
  expect((await runWeft(["export", "--data", copy, "--to", "-"])).stdout).toContain('"kept"');
}, 60_000);

test("a period", async () => {
  const count = async (input: string): Promise<number | undefined> =>
    (await list(`location: "nightly", ${input}`)).data?.listBackups?.length;
  expect(await count("lastNDays: 1")).toBe(2);
  expect(await count('sinceDate: "2001-01-01"')).toBe(2);
  expect(await count('sinceDate: "2999-01-01"')).toBe(0);
  expect(await count('untilDate: "2001-01-01T00:00:00Z"')).toBe(0);
  const refuse = async (input: string): Promise<string> =>
    messageOf(await list(`location: "nightly", ${input}`));
  expect(await refuse("lastNDays: 0")).toContain("lastNDays must be a positive integer, got 0");
  expect(await refuse('lastNDays: 1, sinceDate: "2001-01-01"')).toContain("mutually exclusive");
  expect(await refuse('sinceDate: "soon"')).toContain('invalid sinceDate "soon"');
  expect(await refuse('untilDate: "late"')).toContain('invalid untilDate "late"');
});

describe("closed by default", () => {
  test("no directory but those below the server's own", async () => {
    const outside = makeFolder();
    for (const place of [outside, `file://${outside}`, "../../elsewhere", "/etc"]) {
      const told = messageOf(await backUp(`destination: "${place}"`));
      expect([place, told]).toEqual([place, expect.stringContaining("does not lie within")]);
    }
    expect(fs.readdirSync(outside)).toEqual([]);
    expect(messageOf(await list(`location: "${outside}"`))).toContain("does not lie within");
  });

  test("no bucket with the server's own credentials, and no host of the caller's", async () => {
    expect(messageOf(await backUp('destination: "s3://copies/x"'))).toContain("accessKey");
    expect(messageOf(await backUp('destination: "s3://copies/x", accessKey: "a"'))).toContain(
      "both, or neither",
    );
    for (const place of ["minio://127.0.0.1:9000/x", "http://127.0.0.1/x", "ftp://h/x"]) {
      expect(messageOf(await backUp(`destination: "${place}"`))).toContain("is not available");
    }
  });
});
