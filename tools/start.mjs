// `npm start`: sets the checkout up when something has changed, then serves the sample, as `bin/weft serve` would.
// Flags pass through: `npm start -- --http 127.0.0.1:9000 --workers 2`.
import { setup } from "./setup.mjs";

setup();
const given = process.argv.slice(2);
const has = (flag) => given.some((arg) => arg === flag || arg.startsWith(`${flag}=`));
const args = ["serve", ...given];
if (!has("--data") && process.env.WEFT_DATA === undefined) args.push("--data", "./weft-data");
if (!has("--http") && process.env.WEFT_HTTP === undefined) args.push("--http", "127.0.0.1:8080");
if (!has("--sample") && !has("--no-sample")) args.push("--sample");
// npm dies of SIGTERM and leaves its child behind: the server then ends by itself.
process.env.WEFT_END_WITH_PARENT ??= "1";
process.argv.splice(2, process.argv.length, ...args);
await import("../dist/main.cjs");
