// The thread in which passwords are hashed and compared (passwords.ts). Plain JavaScript: a thread begins with a file
// that Node itself can read, before the program is built and after.
import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import bcrypt from "bcrypt";

// On Linux 0 is the thread that asks: what waits for a password waits longer, everybody else does not. On other systems
// it would be the whole process.
if (process.platform === "linux") setPriority(0, 10);

parentPort?.on("message", ({ id, text, hash, cost }) => {
  try {
    const value = hash === undefined ? bcrypt.hashSync(text, cost) : bcrypt.compareSync(text, hash);
    parentPort?.postMessage({ id, value });
  } catch (error) {
    parentPort?.postMessage({ id, failure: error instanceof Error ? error.message : "unknown" });
  }
});
