// Loaded before Weft in each process of which `bin/code-cache.mjs` wants to know what V8 has compiled: when the process
// ends, functions that were compiled while it ran are among it.
const { writeFileSync } = require("node:fs");
const path = require("node:path");

globalThis.recordCode = (name, encode) => {
  process.once("exit", () => writeFileSync(path.join(process.env.CODE_CACHE, name), encode()));
};
