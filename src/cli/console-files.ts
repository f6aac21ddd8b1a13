/** The console's files, as the build has laid them beside the program: each is read when it is first asked for. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import type { ConsoleFile, ConsoleFiles } from "../http/console.ts";
import { packageFolder } from "./places.ts";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

export function openConsoleFiles(): ConsoleFiles {
  const folder = join(packageFolder, "dist", "console");
  const read = new Map<string, ConsoleFile>();
  // Names of the folder alone: what a client asks for is never made a path.
  let names: ReadonlySet<string> | undefined;
  return {
    find(name) {
      const known = read.get(name);
      if (known !== undefined) return known;
      names ??= new Set(readdirSync(folder));
      const type = types[extname(name)];
      if (type === undefined || !names.has(name)) return undefined;
      const bytes = readFileSync(join(folder, name));
      const tag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
      const file = { type, bytes, gzip: gzipSync(bytes), tag };
      read.set(name, file);
      return file;
    },
  };
}
