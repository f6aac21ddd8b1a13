/** Servers from patched copies of the sources: each leaves a rule out, and must be caught. */
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { makeFolder, root } from "../e2e/server.ts";

export interface Patch {
  /** Below `src`. */
  readonly file: string;
  /** Must stand there once. */
  readonly from: string;
  readonly to: string;
}

/** The file that is run. */
export async function buildMutant(patches: readonly Patch[]): Promise<string> {
  const folder = makeFolder();
  for (const name of ["package.json", "bin", "sample"]) {
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  cpSync(join(root, "dist"), join(folder, "dist"), {
    recursive: true,
    filter: (path) => !path.endsWith(".map"),
  });
  const texts = new Map<string, string>();
  for (const { file, from, to } of patches) {
    const path = join(root, "src", file);
    const text = texts.get(path) ?? readFileSync(path, "utf8");
    if (text.split(from).length !== 2) throw new Error(`${file} does not hold once: ${from}`);
    texts.set(
      path,
      text.replace(from, () => to),
    );
  }
  mkdirSync(join(folder, "dist"), { recursive: true });
  await build({
    absWorkingDir: root,
    outdir: join(folder, "dist"),
    entryPoints: { main: "src/main.ts" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    logLevel: "warning",
    external: ["lmdb", "bcrypt", "farmhash", "esbuild", "@nats-io/transport-node", "kafkajs"],
    banner: {
      js: 'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);',
    },
    plugins: [
      {
        name: "patched",
        setup(build) {
          build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
            const contents = texts.get(path);
            return contents === undefined ? undefined : { contents, loader: "ts" };
          });
        },
      },
    ],
  });
  writeFileSync(join(folder, "patched"), [...texts.keys()].join("\n"));
  return join(folder, "bin", "weft");
}
