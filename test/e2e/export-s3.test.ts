// Goal: exports go to a bucket, by the command and by /admin, and are whole there or absent.
import { randomBytes } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBucketPlace } from "../../src/backup/open-place.ts";
import { account, startS3Stub, type S3Stub } from "./s3-stub.ts";
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

let s3: S3Stub;
let server: TestServer;
let env: Record<string, string>;

beforeAll(async () => {
  s3 = await startS3Stub("copies");
  const where = { AWS_ENDPOINT_URL: s3.url, AWS_REGION: account.region };
  env = { ...where, AWS_ACCESS_KEY_ID: account.id, AWS_SECRET_ACCESS_KEY: account.secret };
  server = await startServer({ dataDir: makeFolder(), env: where });
  await post(`${server.url}/mutate?commitNow=true`, '{ set { <0x10> <title> "Heat" . } }', rdf);
});
afterAll(async () => {
  s3.close();
  await cleanUp();
});

const read = (key: string): string => gunzipSync(s3.objects.get(key)!).toString();
const keysBelow = (prefix: string): string[] =>
  [...s3.objects.keys()].filter((key) => key.startsWith(prefix)).toSorted();
const exportTo = (to: string, given = env, ...args: string[]) =>
  runWeft(["export", "--data", server.dataDir, "--to", to, ...args], given);

test.each(["rdf", "json"])("weft export as %s, once for each place", async (format) => {
  const ended = await exportTo(`s3://copies/shop/${format}`, env, "--format", format);
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
  const facts = format === "rdf" ? ["g01.rdf.gz"] : ["g01.json.gz", "g01.rdf.gz"];
  const names = ["g01.gql_schema.gz", ...facts, "g01.schema.gz"].toSorted();
  expect(keysBelow(`shop/${format}/`)).toEqual(names.map((name) => `shop/${format}/${name}`));
  expect(read(`shop/${format}/g01.${format}.gz`)).toContain('"Heat"');
  expect(read(`shop/${format}/g01.schema.gz`)).toContain("<title>: default");
  const again = await exportTo(`s3://copies/shop/${format}`, env, "--format", format);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("is there already")]);
});

test("what cannot be is told, and leaves no facts", async () => {
  const wrong: [string, Record<string, string>, number, string][] = [
    ["s3://absent/x", env, 1, "no such bucket"],
    ["s3://", env, 2, '"s3://" is no place for exports'],
    ["s3://copies/refused", { ...env, AWS_SECRET_ACCESS_KEY: "x" }, 1, ": 403"],
    ["s3://copies/refused", {}, 2, "AWS_ACCESS_KEY_ID"],
  ];
  for (const [to, given, exit, words] of wrong) {
    const { code, stderr } = await exportTo(to, given);
    expect([to, code, stderr]).toEqual([to, exit, expect.stringContaining(words)]);
  }
  expect(keysBelow("refused")).toEqual([]);
});

test("an object that is longer than a part goes in parts, whole or not at all", async () => {
  const bucket = openBucketPlace("s3://copies/long", env, "tests");
  const pieces = [1, 2, 3, 4].map(() => randomBytes(9 * 1024 * 1024));
  const long = bucket.upload("whole");
  for (const piece of [...pieces, Buffer.from("end")]) await long.write(piece);
  expect(keysBelow("long")).toEqual([]);
  await long.finish();
  expect(s3.objects.get("long/whole")?.equals(Buffer.concat([...pieces, Buffer.from("end")]))).toBe(
    true,
  );
  const ended = bucket.upload("ended");
  for (const piece of pieces) await ended.write(piece);
  expect(s3.uploads.size).toBe(1);
  await ended.abandon();
  expect([s3.uploads.size, keysBelow("long")]).toEqual([0, ["long/whole"]]);
  const lost = bucket.upload("lost");
  for (const piece of pieces) await lost.write(piece);
  // A part that is not the one that was sent: the answer is 200, with an error in it.
  for (const parts of s3.uploads.values()) parts[0] = Buffer.from("other");
  await expect(lost.finish()).rejects.toThrow("InvalidPart");
  expect(keysBelow("long")).toEqual(["long/whole"]);
}, 30_000);

const admin = async (query: string): Promise<Record<string, never>> =>
  (await post(`${server.url}/admin`, { query })).json as never;
const start = (input: string): Promise<Record<string, never>> =>
  admin(`mutation { export(input: {format: "rdf", ${input}}) { taskId } }`);

test("/admin exports with the caller's credentials", async () => {
  const keys = `accessKey: "${account.id}", secretKey: "${account.secret}"`;
  const { data } = (await start(`destination: "s3://copies/asked/", ${keys}`)) as unknown as {
    data: { export: { taskId: string } };
  };
  const query = `{ task(input: {id: "${data.export.taskId}"}) { status } }`;
  let told: unknown;
  await waitUntil(async () => {
    told = await admin(query);
    return !JSON.stringify(told).includes("Running");
  }, 20_000);
  expect(told).toMatchObject({ data: { task: { status: "Success" } } });
  const facts = keysBelow("asked/").find((key) => key.endsWith("g01.rdf.gz"));
  expect(facts).toMatch(/^asked\/dgraph\.r\d+\.u\d{4}\.\d{4}\/g01/);
  expect(read(facts ?? "")).toContain('"Heat"');
});

test("/admin reaches no bucket with the server's own credentials", async () => {
  const messageOf = async (input: string): Promise<unknown> =>
    ((await start(input)) as unknown as { errors: { message: string }[] }).errors[0]?.message;
  expect(await messageOf('destination: "s3://copies/x"')).toContain("needs accessKey");
  expect(await messageOf('destination: "s3://copies/x", accessKey: "a"')).toContain("both, or");
  const both = 'accessKey: "a", secretKey: "b"';
  expect(await messageOf(`destination: "s3://", ${both}`)).toContain("as s3://BUCKET/PREFIX");
  expect(await messageOf(`destination: "S3://copies/x", ${both}`)).toContain("not available");
});
