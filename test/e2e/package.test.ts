/** What `npm pack` makes, run as `npx` runs it: beside nothing but the packages that it names. */
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join, posix } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findFreePort } from "../support/free-port.ts";
import { cleanUp, makeFolder, root } from "./server.ts";

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
  for (const path of [
    "bin/weft",
    "dist/main.cjs",
    "dist/LICENCES.txt",
    "sample/packages.json",
    "ops/weft.service",
  ]) {
    expect(paths).toContain(path);
  }
  const odd = paths.filter((path) => /\.(map|pem)$|^(src|test|tools|bench)\//.test(path));
  expect(odd).toEqual([]);
  expect(packed.unpackedSize).toBeLessThan(16 * 1024 * 1024);
  expect(readManifest()).toMatchObject({ name: "weft-graph", bin: { weft: "bin/weft" } });
});

test("pages link to what is in the package, and to headings that are there", () => {
  const paths = packed.files.map(({ path }) => path);
  const pages = paths.filter((path) => path.endsWith(".md"));
  const texts = new Map(pages.map((path) => [path, readFileSync(join(folder, path), "utf8")]));
  const links = [...texts].flatMap(([page, text]) =>
    findLinks(text).map((link) => ({ page, link, ...locate(page, link) })),
  );
  const isThere = (path: string): boolean =>
    paths.some((one) => one === path || one.startsWith(`${path.replace(/\/$/, "")}/`));
  const isDead = ({ path, anchor }: Place): boolean => {
    const text = texts.get(path);
    if (!isThere(path)) return true;
    return anchor !== "" && text !== undefined && !findAnchors(text).has(anchor);
  };
  expect(links.length).toBeGreaterThan(500);
  expect(links.filter(isDead).map(({ page, link }) => `${page}: ${link}`)).toEqual([]);
});

test("what its Dockerfile takes is in the package", () => {
  const { files } = packed;
  const copied = readFileSync(join(folder, "ops/Dockerfile"), "utf8").matchAll(
    /^COPY (?<from>\S+) /gm,
  );
  const names = [...copied].map(({ groups }) => groups?.["from"] ?? "");
  expect(names).toContain("dist");
  const isPacked = (name: string): boolean =>
    files.some(({ path }) => path === name || path.startsWith(`${name}/`));
  expect(names.filter((name) => !isPacked(name))).toEqual([]);
});

interface Place {
  readonly path: string;
  /** Of a heading; "" for the page. */
  readonly anchor: string;
}

/** Where a link of a page leads to, from the package's root. */
function locate(page: string, link: string): Place {
  const [file = "", anchor = ""] = link.split("#");
  return { path: file === "" ? page : posix.join(posix.dirname(page), file), anchor };
}

/** Of the text, without examples; those to other places on the web are not looked at. */
function findLinks(text: string): string[] {
  const plain = text.replaceAll(/^```[\s\S]*?^```/gm, "").replaceAll(/`[^`\n]*`(?!\])/g, "");
  return [...plain.matchAll(/\]\((?<link>[^)\s]+)\)/g)]
    .map(({ groups }) => groups?.["link"] ?? "")
    .filter((link) => !/^[a-z]+:/.test(link));
}

/** As the usual renderers name headings. */
function findAnchors(text: string): ReadonlySet<string> {
  const counts = new Map<string, number>();
  const names = text.replaceAll(/^```[\s\S]*?^```/gm, "").matchAll(/^#{1,6} (?<heading>.*)$/gm);
  return new Set(
    [...names].map(({ groups }) => {
      const heading = (groups?.["heading"] ?? "").replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
      const name = heading
        .trim()
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
        .replaceAll(" ", "-");
      const count = counts.get(name) ?? 0;
      counts.set(name, count + 1);
      return count === 0 ? name : `${name}-${count}`;
    }),
  );
}

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
