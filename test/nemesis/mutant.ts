/** Servers from patched copies of the sources: each leaves a rule out, and must be caught. */
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildProgram } from "../../tools/build-program.mjs";
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
  await buildProgram({
    outdir: join(folder, "dist"),
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
