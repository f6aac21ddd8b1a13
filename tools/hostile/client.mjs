// One hostile client: connections of its own that it may leave half open, and answers that it does not keep.
import { Agent, request } from "node:http";
import { connect } from "node:net";

const answerTimeoutMs = 120_000;

export class HostileClient {
  #sockets = new Set();
  #isOver = false;
  #agent = new Agent({ keepAlive: true, maxSockets: 64 });

  /** `number` tells clients of one attack apart. `headers`: sent with each request. */
  constructor(port, number, headers) {
    this.port = port;
    this.number = number;
    this.headers = headers;
    this.count = 0;
    this.statuses = new Map();
    /** What went wrong for it that should not have. */
    this.complaints = [];
  }

  get isOver() {
    return this.#isOver;
  }

  /** Sends a request and reads its answer to the end; resolves with the status, 0 where the connection was cut. */
  send(path, type, body, more = {}) {
    return new Promise((resolve) => {
      const done = (status) => {
        this.count++;
        this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
        resolve(status);
      };
      if (this.#isOver) return resolve(0);
      const headers = { ...this.headers, "content-type": type, ...more };
      if (body.length !== undefined) headers["content-length"] = Buffer.byteLength(body);
      const options = { port: this.port, host: "127.0.0.1", path, method: "POST" };
      const sent = request({ ...options, headers, agent: this.#agent }, (res) => {
        res.resume();
        res.on("end", () => done(res.statusCode));
        res.on("error", () => done(0));
      });
      sent.setTimeout(answerTimeoutMs, () => sent.destroy());
      sent.on("error", () => done(0));
      sent.on("socket", (socket) => this.#sockets.add(socket));
      sent.end(body);
    });
  }

  dql(text) {
    return this.send("/query", "application/dql", text);
  }

  graphql(query, variables) {
    return this.send("/graphql", "application/json", JSON.stringify({ query, variables }));
  }

  /** A raw connection; undefined when there is none to be had. */
  open() {
    return new Promise((resolve) => {
      if (this.#isOver) return resolve(undefined);
      const socket = connect(this.port, "127.0.0.1", () => resolve(socket));
      this.#sockets.add(socket);
      socket.on("error", () => resolve(undefined));
      socket.on("close", () => this.#sockets.delete(socket));
    });
  }

  /** Keeps a socket, of whatever library, to be ended with the attack. */
  keep(socket) {
    this.#sockets.add(socket);
  }

  complain(text) {
    this.complaints.push(text);
  }

  pause(ms) {
    return new Promise((resolve) => setTimeout(resolve, ms));
  }

  end() {
    this.#isOver = true;
    for (const socket of this.#sockets) (socket.terminate ?? socket.destroy).call(socket);
    this.#agent.destroy();
  }
}

/** The head of a POST, for those who write the rest by themselves. */
export function headOf(path, length, headers = {}) {
  const lines = Object.entries({
    host: "127.0.0.1",
    "content-type": "application/json",
    "content-length": length,
    ...headers,
  }).map(([name, value]) => `${name}: ${value}`);
  return `POST ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`;
}
