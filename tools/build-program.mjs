// The program, for Node: what `bin/weft` starts. Used by `tools/build.mjs`, and by tests that change a source.
import { readFileSync } from "node:fs";
import { build } from "esbuild";
import { root } from "./setup.mjs";

/** Packages with compiled code, which they look for beside their own files. */
export const native = ["lmdb", "bcrypt", "farmhash", "esbuild"];

/** Packages that only some need: they install them themselves (src/sinks/optional-package.ts). */
export const optional = ["@nats-io/transport-node", "kafkajs"];

/** Each start reads it. Lines are short enough for who prints a trace with them; names are those of the sources. */
export const compact = { minifyWhitespace: true, lineLimit: 160 };

/** Each what one kind of process is (src/main/start.ts). */
const parts = ["serve", "child", "beside", "command"];

/**
 * lmdb's JavaScript, of a dozen files and five packages, is part of the program; its compiled code is looked for beside the
 * package that is installed, as ever. What speeds up an encoding that no store has is left out.
 */
const lmdbInside = {
  name: "lmdb-inside",
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /[\\/]node_modules[\\/]lmdb[\\/]\w[\w-]*\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replaceAll("import.meta.url", 'urlOf("lmdb")'),
    }));
    onResolve({ filter: /^msgpackr-extract$/ }, ({ path }) => ({ path, namespace: "none" }));
    onLoad({ filter: /./, namespace: "none" }, () => ({ contents: "module.exports = undefined;" }));
  },
};

/** What each file of the program begins with. */
const head = `(function (exports, require, module, __filename, __dirname) {
const { pathToFileURL } = require("node:url");
const moduleUrl = pathToFileURL(__filename).href;
const urlOf = (name) => pathToFileURL(require.resolve(name)).href;`;

/** What esbuild says of the parts, and of what starts them. */
export async function buildProgram(options) {
  const common = {
    absWorkingDir: root,
    bundle: true,
    format: "cjs",
    outExtension: { ".js": ".cjs" },
    platform: "node",
    target: "node20",
    legalComments: "none",
    ...compact,
    logLevel: "warning",
    metafile: true,
    ...options,
  };
  const starter = build({ ...common, entryPoints: { main: "src/main/start.ts" } });
  // A file for each, written as a function of what CommonJS gives a module: Node 20 keeps compiled code of scripts alone.
  // Modules that are imported dynamically are evaluated then.
  const program = build({
    ...common,
    entryPoints: Object.fromEntries(parts.map((name) => [name, `src/main/${name}.ts`])),
    external: [...native.filter((name) => name !== "lmdb"), ...optional],
    plugins: [lmdbInside, ...(options.plugins ?? [])],
    // In a script with compiled code Node 20 has nothing that answers `import()`: all is `require`.
    supported: { "dynamic-import": false },
    define: { "import.meta.url": "moduleUrl", "import.meta.dirname": "__dirname" },
    banner: { js: head },
    footer: { js: "})" },
  });
  return Promise.all([starter, program]);
}
