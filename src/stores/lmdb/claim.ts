/**
 * Claims on a directory that die with their holder (reference/storage 8.1): "serving" is the supervisor's, "writing"
 * the writer's. On Linux a listening socket in the abstract namespace: the kernel gives a name to one process and takes
 * it back whatever way that one ends, so two starts at the same instant have one winner and nothing is ever stale.
 * Elsewhere a socket file; one that nobody answers on is stale, and is moved away before the next try.
 */
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

type ClaimKind = "serving" | "writing";

export interface Claim {
  release(): Promise<void>;
}

const retryMs = 40;

/** The directory itself names the claim, so that every path to it meets the same one. */
function claimName(dir: string, kind: ClaimKind): string {
  const { dev, ino } = fs.statSync(dir);
  const hash = createHash("sha256").update(`${dev}:${ino}`).digest("hex").slice(0, 24);
  return `weft-${kind}-${hash}`;
}

/** undefined when another process holds it for the whole of `waitMs`. The directory must exist. */
export async function claimDirectory(
  dir: string,
  kind: ClaimKind,
  waitMs: number,
): Promise<Claim | undefined> {
  const name = claimName(dir, kind);
  for (let waited = 0; ; waited += retryMs) {
    const claim = process.platform === "linux" ? await listen(`\0${name}`) : await listenFile(name);
    if (claim !== undefined) return claim;
    if (waited >= waitMs) return undefined;
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}

function listen(path: string): Promise<Claim | undefined> {
  return new Promise((resolve, reject) => {
    const server = net.createServer((socket) => socket.destroy());
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(undefined);
      else reject(error);
    });
    server.listen({ path, exclusive: true }, () => {
      server.unref();
      resolve({ release: () => new Promise((done) => server.close(() => done())) });
    });
  });
}

async function listenFile(name: string): Promise<Claim | undefined> {
  const path = join(tmpdir(), name);
  const claim = await listen(path);
  if (claim !== undefined || (await isAnswered(path))) return claim;
  // Whoever moves the stale file away tries again; the other finds it gone, or a live one.
  try {
    const stale = `${path}.${process.pid}`;
    fs.renameSync(path, stale);
    fs.unlinkSync(stale);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  return listen(path);
}

/** Whether a process listens on a socket file. */
export function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
