/**
 * Ports for servers that a test starts, also for one that it starts again on the same port.
 *
 * A port that the kernel gives (`listen(0)`) and that is let go again may be given to another process, or to an
 * outgoing connection, before the server listens there. These ports lie below the range the kernel gives from, and
 * each process takes them from blocks of its own: it holds a block by listening on the first port of it.
 */
import { createServer } from "node:net";

const firstPort = 12_000;
/** Linux gives from 32768 on, others from 49152. */
const endPort = 32_700;
const blockSize = 100;
const blockCount = (endPort - firstPort) / blockSize;

let block = 0;
/** Of the block: ports before it were given. The block is used up at first. */
let next = blockSize;

/** Whether the port could be taken; it is held for the life of the process if so asked, else let go again. */
function tryPort(port: number, isHeld: boolean): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen({ port, host: "127.0.0.1", exclusive: true }, () => {
      if (!isHeld) return void probe.close(() => resolve(true));
      probe.unref();
      resolve(true);
    });
  });
}

async function takeBlock(): Promise<void> {
  const start = Math.floor(Math.random() * blockCount);
  for (let offset = 0; offset < blockCount; offset++) {
    const first = firstPort + ((start + offset) % blockCount) * blockSize;
    if (await tryPort(first, true)) {
      block = first;
      next = 1;
      return;
    }
  }
  throw new Error(`every block of ports from ${firstPort} to ${endPort} is taken`);
}

let last: Promise<unknown> = Promise.resolve();

/** A port of 127.0.0.1 that nothing listens on, and that no other test is given. */
export function findFreePort(): Promise<number> {
  const found = last.then(async () => {
    for (;;) {
      if (next === blockSize) await takeBlock();
      const port = block + next++;
      if (await tryPort(port, false)) return port;
    }
  });
  last = found.catch(() => undefined);
  return found;
}
