// A server of its own for the crash and soak tools: started from dist, watched from outside, killed on purpose.
import { execFileSync, spawn } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { root } from "./setup.mjs";

const weft = join(root, "bin", "weft");

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export function findFreePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

/** A random number from a seed, so that a round can be played again. */
export function makeRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const running = new Set();

/** A tool that is ended, or fails, takes its servers along. */
process.on("exit", () => {
  for (const server of running) for (const pid of server.pids()) kill(pid);
});
process.once("SIGINT", () => process.exit(130));
process.once("SIGTERM", () => process.exit(143));

export class LiveServer {
  /** `keyFile`: of a store that is to be encrypted. */
  constructor(dataDir, port, workers, keyFile) {
    this.dataDir = dataDir;
    this.encryption = keyFile === undefined ? [] : ["--encryption", `key-file=${keyFile}`];
    this.url = `http://127.0.0.1:${port}`;
    this.args = [
      "serve",
      "--data",
      dataDir,
      "--http",
      `127.0.0.1:${port}`,
      "--workers",
      String(workers),
      ...this.encryption,
    ];
    this.output = "";
  }

  /** Resolves when /health answers. */
  async start() {
    this.process = spawn(process.execPath, [weft, ...this.args], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    running.add(this);
    const keep = (chunk) => (this.output = (this.output + chunk).slice(-20_000));
    this.process.stdout.on("data", keep);
    this.process.stderr.on("data", keep);
    this.exit = new Promise((resolve) =>
      this.process.once("exit", (code, signal) => resolve(signal ?? code)),
    );
    let ended = false;
    void this.exit.then(() => {
      ended = true;
      running.delete(this);
    });
    for (let waited = 0; !(await this.isHealthy()); waited += 50) {
      if (ended) throw new Error(`the server ended: ${this.output}`);
      if (waited > 30_000) throw new Error(`the server does not answer: ${this.output}`);
      await sleep(50);
    }
  }

  async isHealthy() {
    try {
      const response = await fetch(`${this.url}/health`, { signal: AbortSignal.timeout(1000) });
      await response.arrayBuffer();
      return response.status === 200;
    } catch {
      return false;
    }
  }

  /** Pids of the supervisor's children; of one role where it is given. */
  children(role) {
    const { pid } = this.process;
    try {
      const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
      const pids = text.split(" ").filter(Boolean).map(Number);
      return role === undefined ? pids : pids.filter((one) => roleOf(one) === role);
    } catch {
      return [];
    }
  }

  /** The supervisor's, then its children's. */
  pids() {
    return [this.process.pid, ...this.children()];
  }

  async stop() {
    this.process.kill("SIGTERM");
    return await this.exit;
  }

  /** SIGKILL to all that was started; resolves when every one of them is gone. */
  async killAll() {
    const pids = this.pids();
    for (const pid of pids) kill(pid);
    await this.exit;
    await waitGone(pids);
  }

  async post(path, type, body) {
    const response = await fetch(this.url + path, {
      method: "POST",
      headers: { "content-type": type },
      body,
      signal: AbortSignal.timeout(20_000),
    });
    const answer = await response.json();
    if (answer.errors !== undefined) {
      throw Object.assign(new Error(answer.errors[0].message), { answer });
    }
    return answer;
  }

  query(text) {
    return this.post("/query", "application/dql", text);
  }

  mutate(rdf, parameters = "commitNow=true") {
    return this.post(`/mutate?${parameters}`, "application/rdf", `{ set {\n${rdf}\n} }`);
  }

  /** Resident memory of its own (not shared, not mapped from the file) of each process, in MiB. */
  memory() {
    return this.pids().map((pid) => {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      return Math.round(Number(/RssAnon:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
    });
  }

  fileBytes() {
    return statSync(join(this.dataDir, "data.mdb"), { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Throws with its output when `weft check` finds something. */
  check() {
    const args = ["check", "--data", this.dataDir, ...this.encryption];
    execFileSync(process.execPath, [weft, ...args], { stdio: "pipe" });
  }
}

/** writer, worker or both, as its arguments say. */
function roleOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").at(-2);
  } catch {
    return undefined;
  }
}

export function kill(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself meanwhile.
  }
}

export async function waitGone(pids) {
  for (const pid of pids) {
    for (let waited = 0; isAlive(pid); waited += 20) {
      if (waited > 15_000) throw new Error(`process ${pid} does not end`);
      await sleep(20);
    }
  }
}

function isAlive(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3) !== "Z";
  } catch {
    return false;
  }
}
