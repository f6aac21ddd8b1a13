/** What `npm pack` makes, run as `npx` runs it: beside nothing but the packages that it names. */
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cleanUp, findFreePort, makeFolder, root } from "./server.ts";

interface Packed {
  readonly filename: string;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

let packed: Packed;
let folder: string;

beforeAll(() => {
  const place = makeFolder();
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", place];
  [packed] = JSON.parse(execFileSync("npm", args, { cwd: root, encoding: "utf8" })) as [Packed];
  execFileSync("tar", ["-xzf", join(place, packed.filename), "-C", place]);
  folder = join(place, "package");
  mkdirSync(join(folder, "node_modules"));
  const { dependencies } = readManifest();
  for (const name of Object.keys(dependencies)) {
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
});
afterAll(cleanUp);

function readManifest() {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    readonly name: string;
    readonly bin: object;
    readonly dependencies: Readonly<Record<string, string>>;
  };
}

test("holds what is built, the sample and the documentation: no sources, no tests, no maps", () => {
  const paths = packed.files.map(({ path }) => path);
  for (const path of ["bin/weft", "dist/main.js", "dist/LICENCES.txt", "sample/packages.json"]) {
    expect(paths).toContain(path);
  }
  const odd = paths.filter((path) => /\.(map|pem)$|^(src|test|tools|bench)\//.test(path));
  expect(odd).toEqual([]);
  expect(packed.unpackedSize).toBeLessThan(16 * 1024 * 1024);
  expect(readManifest()).toMatchObject({ name: "weft-graph", bin: { weft: "bin/weft" } });
});

test("serves the sample, and ends when npm does", async () => {
  const port = await findFreePort();
  const data = join(makeFolder(), "data");
  const serve = `node bin/weft serve --sample --workers 1 --data ${data} --http 127.0.0.1:${port}`;
  // As npm runs a command: below a shell, which tells what npm does.
  const npm = spawn("sh", ["-c", `${serve}; true`], {
    cwd: folder,
    env: { ...process.env, npm_command: "exec" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const url = `http://127.0.0.1:${port}`;
  const isReady = () => fetch(`${url}/health`).then(({ ok }) => ok, () => false); // prettier-ignore
  await expect.poll(isReady, { timeout: 30_000 }).toBe(true);
  const query = '{"query":"{ why(from: \\"fastify\\", to: \\"reusify\\") { name } }"}';
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/graphql`, { method: "POST", body: query, headers });
  expect(await response.json()).toMatchObject({
    data: { why: ["fastify", "avvio", "fastq", "reusify"].map((name) => ({ name })) },
  });
  npm.kill("SIGKILL");
  const isGone = () => fetch(`${url}/health`).then(() => false, () => true); // prettier-ignore
  await expect.poll(isGone, { timeout: 15_000 }).toBe(true);
});
