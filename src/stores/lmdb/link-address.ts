/**
 * Where the writer listens: a socket file in the store's own directory, so that the directory's rights guard it. Node
 * cuts paths over 107 bytes without a word, and two stores with a long common prefix would then share one socket: on
 * Linux a long path is named through the directory's open handle, elsewhere it moves to the temporary directory.
 */
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const pathBytesMax = 100;
export const linkName = "writer.sock";

interface LinkAddress {
  readonly path: string;
  /** Gives back what the path needs to stay valid. */
  close(): void;
}

export function openLinkAddress(dir: string): LinkAddress {
  const path = join(resolve(dir), linkName);
  if (Buffer.byteLength(path) <= pathBytesMax) return { path, close() {} };
  if (process.platform === "linux") {
    const handle = fs.openSync(dir, "r");
    return { path: `/proc/self/fd/${handle}/${linkName}`, close: () => fs.closeSync(handle) };
  }
  const hash = createHash("sha256").update(fs.realpathSync(dir)).digest("hex").slice(0, 24);
  return { path: join(tmpdir(), `weft-${hash}.sock`), close() {} };
}
