// `npm run bench`: nanoseconds of the hot files (bench/). `npm run bench -- subscriptions [options]`: pushes of a real
// server, see bench-subscriptions.mjs. `npm run bench -- beside-heavy [options]`: small reads beside queries that visit a
// million edges, see bench/beside-heavy.mjs. `npm run bench -- beside-index-build [options]`: small reads and writes
// while indexes are put on data that is there, see bench/beside-index-build.mjs. `npm run bench -- lambda-field [options]`:
// what a computed field adds to a query, see bench/lambda-field.mjs. `npm run bench -- grpc-beside-http [options]`: the
// CPU of calls over gRPC and over HTTP, see bench/grpc-beside-http.mjs. `npm run bench -- vector-index [options]`: searching a
// vector graph against comparing all, see bench/vector-index.ts. `npm run bench -- fail-over [options]`: how long nobody
// leads when the machine that does is lost, see bench-fail-over.mjs.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { root } from "./setup.mjs";

const [what = "files", ...rest] = process.argv.slice(2);

if (what === "subscriptions") {
  process.argv.splice(2, process.argv.length, ...rest);
  await import("./bench-subscriptions.mjs");
} else if (what === "fail-over") {
  process.argv.splice(2, process.argv.length, ...rest);
  await import("./bench-fail-over.mjs");
} else if (what === "beside-heavy") {
  process.argv.splice(2, process.argv.length, ...rest);
  await import("../bench/beside-heavy.mjs");
} else if (what === "beside-index-build") {
  process.argv.splice(2, process.argv.length, ...rest);
  await import("../bench/beside-index-build.mjs");
} else if (what === "lambda-field") {
  process.argv.splice(2, process.argv.length, ...rest);
  await import("../bench/lambda-field.mjs");
} else if (what === "grpc-beside-http") {
  process.argv.splice(2, process.argv.length, ...rest);
  await import("../bench/grpc-beside-http.mjs");
} else if (what === "files" || what === "vector-index") {
  process.argv.splice(2, process.argv.length, ...rest);
  const folder = join(root, "node_modules", ".cache");
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, `bench-${what}.mjs`);
  await build({
    entryPoints: [join(root, "bench", what === "files" ? "run.ts" : `${what}.ts`)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "warning",
  });
  await import(pathToFileURL(outfile).href);
} else {
  process.stderr.write(
    `bench: there is no "${what}"; known are files, subscriptions, beside-heavy, beside-index-build, vector-index, lambda-field, grpc-beside-http, fail-over\n`,
  );
  process.exitCode = 1;
}
