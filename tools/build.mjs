// `npm run build`: src becomes a few files of JavaScript in dist (decision 0020). Types are not looked at here;
// `npm run types` does that.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { build } from "esbuild";
import { buildProgram, compact, native, optional } from "./build-program.mjs";
import { root } from "./setup.mjs";

const dist = join(root, "dist");

/** See src/base/late-package.ts. */
const latePackages = ["s2js", "snowball-stemmers"];

const common = {
  absWorkingDir: root,
  outdir: dist,
  bundle: true,
  format: "esm",
  target: "node20",
  sourcemap: "linked",
  ...compact,
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
};

const program = await buildProgram({ outdir: dist, sourcemap: "linked" });

const server = await build({
  ...common,
  entryPoints: {
    "password-thread": "src/passwords/password-thread.js",
    "schema-check-thread": "src/graphql/service/schema-check-thread.ts",
    "bulk-thread": "src/bulk/bulk-thread.ts",
    embedded: "src/embedded/open.ts",
    testing: "src/embedded/testing.ts",
  },
  // All beside main.js, whatever goes into which file: a module that looks for others from its own place finds them.
  chunkNames: "[name]-[hash]",
  splitting: true,
  platform: "node",
  external: [...native, ...optional],
  // Packages in CommonJS ask for Node's own modules.
  banner: {
    js: 'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);',
  },
});

// Packages that a process loads when it first uses them (src/base/late-package.ts).
const late = await build({
  ...common,
  entryPoints: latePackages.map((name) => ({ in: name, out: `late/${name}` })),
  format: "cjs",
  outExtension: { ".js": ".cjs" },
  mainFields: ["module", "main"],
  platform: "node",
});

// What lambda/bundle.ts puts in front of a user's script, where there is no Node; it looks for it below its own file.
const runner = await build({
  ...common,
  entryPoints: { "runner/runner": "src/lambda/runner/runner.ts" },
  platform: "browser",
});

// The client runs where there is no Node: one file that imports nothing.
const client = await build({
  ...common,
  entryPoints: { client: "src/client/client.ts" },
  platform: "neutral",
});

/** GraphiQL's style sheet brings fonts of 340 KB, written into it: the system's do. */
const withoutFonts = {
  name: "without-fonts",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]graphiql[\\/]dist[\\/]style\.css$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replaceAll(/@font-face\s*\{[^}]*\}/g, ""),
      loader: "css",
    }));
  },
};

/**
 * Dialogs of GraphiQL write a style sheet into the page while they are open, to keep what is behind them from scrolling.
 * This page does not scroll, and its policy allows no such sheet.
 */
const withoutInjectedStyles = {
  name: "without-injected-styles",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^react-style-singleton$/ }, ({ path }) => ({ path, namespace: "none" }));
    onLoad({ filter: /./, namespace: "none" }, () => ({
      contents: "export const styleSingleton = () => () => null;",
    }));
  },
};

// The console: a page with scripts that load what a view needs when it is shown.
const page = await build({
  ...common,
  plugins: [withoutFonts, withoutInjectedStyles],
  entryPoints: { console: "src/console/console.tsx" },
  outdir: join(dist, "console"),
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  splitting: true,
  minify: true,
  sourcemap: false,
  platform: "browser",
  target: ["chrome109", "firefox115", "safari16.4"],
  define: { "process.env.NODE_ENV": '"production"' },
});
// The page's own style sheet holds those of its views, too: what is made beside it for each of them is not asked for.
const pageFiles = Object.keys(page.metafile.outputs).filter(
  (file) => file.endsWith(".js") || /[\\/]console-\w+\.css$/.test(file),
);
const pageFile = join(dist, "console", "index.html");
writeFileSync(pageFile, printPage(pageFiles.map((file) => basename(file))));

// The types of the package's entries: what src/embedded and src/client publish, and the names that each entry has.
const declarations = {
  "embedded.d.ts": `${readTypes("embedded/api.ts")}\nexport declare const open: Open;\n`,
  "testing.d.ts": `${readTypes("embedded/test-api.ts")}\nexport declare const openTestDatabase: OpenTestDatabase;\n`,
  "client.d.ts": `${readTypes("client/api.ts")}\nexport declare const connect: Connect;\nexport declare const documents: Documents;\nexport declare const dql: MakeDqlText;\n`,
  "document-types.d.ts": readTypes("client/document-types.ts"),
  "document-syntax.d.ts": readTypes("client/document-syntax.ts"),
  "document-tokens.d.ts": readTypes("client/document-tokens.ts"),
};
for (const [name, text] of Object.entries(declarations)) writeFileSync(join(dist, name), text);

const licences = join(dist, "LICENCES.txt");
writeFileSync(
  licences,
  gatherLicences(
    [...program, server, late, page].flatMap(({ metafile }) => Object.keys(metafile.inputs)),
  ),
);
const outputs = [...program, server, late, client, runner].flatMap(({ metafile }) =>
  Object.keys(metafile.outputs),
);
outputs.push(...pageFiles);
const types = Object.keys(declarations).map((name) => join(dist, name));
removeOthers(
  new Set([...outputs.map((file) => resolve(root, file)), ...types, pageFile, licences]),
);
// Of the program as it is now: what other versions of Node had is of an earlier one. Without it all works as well, and
// whoever builds is told.
rmSync(join(dist, "code-cache"), { recursive: true, force: true });
spawnSync(process.execPath, [join(root, "bin", "code-cache.mjs")], { stdio: "inherit" });

/** `names`: of the console's scripts and styles. Nothing is written into the page itself: its policy forbids it. */
function printPage(names) {
  const [script, style] = [/^console-\w+\.js$/, /^console-\w+\.css$/].map((pattern) =>
    names.find((name) => pattern.test(name)),
  );
  const template = readFileSync(join(root, "src", "console", "console.html"), "utf8");
  return template
    .replace("{script}", `ui/console/${script}`)
    .replace("{style}", `ui/console/${style}`);
}

/** A file of types alone is its own declaration; what it imports lies beside it. */
function readTypes(name) {
  const text = readFileSync(join(root, "src", name), "utf8");
  return text
    .replaceAll('from "./api.ts"', 'from "./embedded.js"')
    .replaceAll('from "../client/api.ts"', 'from "./client.js"')
    .replaceAll(/from "(?:\.\.\/client|\.)\/(document-\w+)\.ts"/g, 'from "./$1.js"');
}

/** Of the packages whose code is in dist now. */
function gatherLicences(inputs) {
  const paths = inputs.map((file) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? "");
  const folders = [...new Set(paths)].filter((path) => path !== "").map((path) => join(root, path));
  return `${folders.map(readLicence).join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}

function readLicence(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
  const texts = files.map((file) => readFileSync(join(folder, file), "utf8").trim());
  return [`${name} ${version} (${license})`, ...texts].join("\n\n");
}

/** Files of earlier builds would stay for ever. Those of this one are there already: nothing is missing meanwhile. */
function removeOthers(keep) {
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (entry.isFile() && !keep.has(file)) rmSync(file);
  }
}
