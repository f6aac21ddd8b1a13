/** Backups go to a server that speaks S3, and come back. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { account, startS3Stub, type S3Stub } from "./s3-stub.ts";
import { cleanUp, makeFolder, post, rdf, runWeft, startServer, type Ended } from "./server.ts";

let s3: S3Stub;
let env: Record<string, string>;

beforeAll(async () => {
  s3 = await startS3Stub("copies");
  env = {
    AWS_ENDPOINT_URL: s3.url,
    AWS_REGION: account.region,
    AWS_ACCESS_KEY_ID: account.id,
    AWS_SECRET_ACCESS_KEY: account.secret,
  };
});
afterAll(async () => {
  s3.close();
  await cleanUp();
});

const to = ["--to", "s3://copies/shop/daily"];

async function run(...args: string[]): Promise<Ended> {
  const ended = await runWeft(args, env);
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
  return ended;
}

test("backups go to a bucket, are pruned, verified and restored there", async () => {
  const dataDir = join(makeFolder(), "data");
  const server = await startServer({ dataDir });
  for (const step of [1, 2, 3, 4, 5]) {
    await post(`${server.url}/mutate?commitNow=true`, `{ set { <0x10> <step> "${step}" . } }`, rdf);
    await run("backup", "--data", dataDir, ...to);
  }
  // More than a page of them.
  expect((await run("backup", "list", ...to)).stdout.trim().split("\n")).toHaveLength(5);
  expect((await run("backup", "prune", "--keep", "2", ...to)).stdout).toContain("3 backups and 3");
  expect((await run("backup", "verify", ...to)).stdout).toContain("2 backups are sound");
  expect([...s3.objects.keys()].every((key) => key.startsWith("shop/daily/"))).toBe(true);
  expect(s3.objects.size).toBe(4);
  const dir = join(makeFolder(), "restored");
  await run("restore", "--from", "s3://copies/shop/daily", "--data", dir);
  const exported = async (data: string): Promise<string> =>
    (await run("export", "--data", data, "--to", "-")).stdout;
  expect(await exported(dir)).toContain('<step> "5"');
  expect(await exported(dir)).toBe(await exported(dataDir));
}, 60_000);

test("what the bucket refuses is told, and what is not said", async () => {
  s3.objects.set("held/lock", Buffer.from(String(Date.now())));
  const wrong: [string[], Record<string, string>, string, exit?: number][] = [
    [["backup", "list", "--to", "s3://absent/x"], env, "no such bucket"],
    [["backup", "list", ...to], { ...env, AWS_ACCESS_KEY_ID: "other" }, "403 InvalidAccessKeyId"],
    [
      ["backup", "list", ...to],
      { ...env, AWS_ACCESS_KEY_ID: "stranger" },
      "404 XAdminUserNotFound",
    ],
    [
      ["backup", "list", ...to],
      { ...env, AWS_SECRET_ACCESS_KEY: "x" },
      "403 SignatureDoesNotMatch",
    ],
    [["backup", "list", ...to], { AWS_ACCESS_KEY_ID: "only" }, "AWS_SECRET_ACCESS_KEY", 2],
    [
      ["backup", "prune", "--keep", "1", "--to", "s3://copies/held"],
      env,
      "somebody writes to s3://",
    ],
    [["backup", "list", "--to", "s3://"], env, '"s3://" is no place for backups', 2],
  ];
  for (const [args, given, words, exit = 1] of wrong) {
    const { code, stderr } = await runWeft(args, given);
    expect([args, code, stderr]).toEqual([args, exit, expect.stringContaining(words)]);
  }
}, 30_000);
