/**
 * Where the processes of one server reach one another: a socket file for each slot, in the store's directory, whose
 * rights guard it. Node cuts paths over 107 bytes without a word: on Linux a longer one goes through the directory's
 * open handle, elsewhere to the temporary directory.
 */
import { createHash } from "node:crypto";
import { openSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";

const pathBytesMax = 100;

export interface PrivateSockets {
  /** own: the supervisor's, where clients speak TLS. */
  pathOf(slot: number | "lambda" | "own"): string;
  /** Where the process of a slot takes calls of gRPC. */
  grpcPathOf(slot: number): string;
  /** Removes what a process left behind that had the slot before. */
  clear(slot: number): void;
  /** Removes all at which nobody listens. Before the processes of a server are started: one may be about to listen. */
  clearLeft(): Promise<void>;
}

export function openPrivateSockets(dir: string): PrivateSockets {
  const prefix = choosePrefix(resolve(dir));
  const pathOf = (slot: number | "lambda" | "own"): string => `${prefix}${slot}.sock`;
  const grpcPathOf = (slot: number): string => `${prefix}${slot}.grpc`;
  return {
    pathOf,
    grpcPathOf,
    clear: (slot) => {
      rmSync(pathOf(slot), { force: true });
      rmSync(grpcPathOf(slot), { force: true });
    },
    clearLeft: async () => {
      const folder = dirname(prefix);
      const names = readdirSync(folder).filter((name) => name.startsWith(basename(prefix)));
      for (const name of names) await removeUnlessHeard(join(folder, name));
    },
  };
}

function removeUnlessHeard(path: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve();
    });
    socket.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED") rmSync(path, { force: true });
      resolve();
    });
  });
}

function choosePrefix(dir: string): string {
  const plain = join(dir, "slot-");
  if (Buffer.byteLength(plain) + "lambda.sock".length <= pathBytesMax) return plain;
  // Kept open as long as the process lives.
  if (process.platform === "linux") return `/proc/self/fd/${openSync(dir, "r")}/slot-`;
  const hash = createHash("sha256").update(realpathSync(dir)).digest("hex").slice(0, 24);
  return join(tmpdir(), `weft-${hash}-`);
}
