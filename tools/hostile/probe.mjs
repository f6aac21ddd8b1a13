// A thread of its own that measures how long small reads and writes take: what an attack costs its own event loop must not
// count. Told `{ kind: "begin" }` it measures until `{ kind: "end" }`, and tells latencies and failures.
import { Agent, request } from "node:http";
import { parentPort, workerData } from "node:worker_threads";

const { port, headers, nodeCount } = workerData;
const readers = 4;
const writers = 2;
const readPauseMs = 5;
const writePauseMs = 20;
/** Who has waited for so long is counted as one that was not answered. */
const timeoutMs = 20_000;

let running;

parentPort.on("message", ({ kind }) => {
  if (kind === "begin") {
    running = { isOver: false, reads: [], writes: [], failures: [] };
    running.clients = [
      ...Array.from({ length: readers }, (_, i) => keepOn(running, i, read, readPauseMs)),
      ...Array.from({ length: writers }, (_, i) => keepOn(running, i, write, writePauseMs)),
    ];
  } else void end(running);
});

async function end(run) {
  run.isOver = true;
  await Promise.all(run.clients);
  const { reads, writes, failures } = run;
  parentPort.postMessage({ reads, writes, failures });
}

const read = {
  into: "reads",
  path: "/query",
  type: "application/dql",
  bodyOf: (i) => `{ q(func: uid(${1 + (i % nodeCount)})) { uid name } }`,
};
const write = {
  into: "writes",
  path: "/mutate?commitNow=true",
  type: "application/rdf",
  // Another value each time: what changes nothing is not written.
  bodyOf: (i) => `{ set { <${1 + (i % nodeCount)}> <score> "${Date.now() % 1e9}" . } }`,
};

async function keepOn(run, from, { into, path, type, bodyOf }, pauseMs) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let i = from; !run.isOver; i += 7) {
    const began = performance.now();
    const failure = await ask(agent, path, type, bodyOf(i));
    run[into].push(performance.now() - began);
    if (failure !== undefined) run.failures.push(`${into}: ${failure}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  agent.destroy();
}

/** What went wrong; undefined for nothing. */
function ask(agent, path, type, body) {
  return new Promise((resolve) => {
    const sent = request(
      {
        agent,
        port,
        host: "127.0.0.1",
        path,
        method: "POST",
        headers: { ...headers, "content-type": type, "content-length": Buffer.byteLength(body) },
      },
      (res) => {
        let text = "";
        res.on("data", (chunk) => (text += chunk));
        res.on("error", (error) => resolve(error.code ?? error.message));
        res.on("end", () => {
          const isRight = res.statusCode === 200 && !text.startsWith('{"errors"');
          resolve(isRight ? undefined : `${res.statusCode} ${text.slice(0, 200)}`);
        });
      },
    );
    sent.setTimeout(timeoutMs, () => sent.destroy(new Error("no answer in time")));
    sent.on("error", (error) => resolve(error.code ?? error.message));
    sent.end(body);
  });
}
