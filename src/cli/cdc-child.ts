/** Change data capture beside a server: a `weft changes` of its own, started again when it ends. */
import { type ChildProcess, fork } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { CdcConfig } from "./cdc-config.ts";
import { complain } from "./log.ts";
import { mainFile } from "./places.ts";

interface CdcParts {
  readonly cdc: CdcConfig;
  readonly dataDir: string;
  /** Which server, and as whom; asked anew for each start: what it signs with ends. */
  readonly makeEnv: () => Promise<NodeJS.ProcessEnv>;
  readonly serverArgs: readonly string[];
}

/** Between an end and the next start. */
const againMs = 5_000;

const topic = "dgraph-cdc";

export class CdcChild {
  readonly #parts: CdcParts;
  #child: ChildProcess | undefined = undefined;
  #timer: NodeJS.Timeout | undefined = undefined;
  #isEnding = false;

  constructor(parts: CdcParts) {
    this.#parts = parts;
  }

  async start(): Promise<void> {
    const { cdc, serverArgs, makeEnv } = this.#parts;
    const login = cdc.kind === "kafka" && cdc.login !== "" ? { WEFT_KAFKA_LOGIN: cdc.login } : {};
    const env = { ...(await makeEnv()), ...login };
    if (this.#isEnding) return;
    const args = ["changes", ...serverArgs, ...this.#sinkArgs()];
    const child = fork(mainFile, args, { stdio: ["ignore", "ignore", "inherit", "ipc"], env });
    this.#child = child;
    child.once("exit", (code) => {
      if (this.#isEnding) return;
      if (code !== 0) complain(`--cdc: it has ended, and is started again in ${againMs / 1000} s`);
      this.#timer = setTimeout(() => void this.start(), againMs);
    });
  }

  /** Ends it; where it is stands in its state. */
  async stop(): Promise<void> {
    this.#isEnding = true;
    clearTimeout(this.#timer);
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), againMs);
    await ended;
    clearTimeout(timer);
  }

  /** All that the log keeps at the first start; then on from there. */
  #sinkArgs(): readonly string[] {
    const { cdc, dataDir } = this.#parts;
    const state = join(dataDir, "cdc.state");
    const common = ["--form", "dgraph", "--from", "oldest", "--namespace", "all", "--state", state];
    if (cdc.kind === "file") {
      mkdirSync(cdc.dir, { recursive: true, mode: 0o700 });
      return [...common, "--out", join(cdc.dir, "sink.log"), "--rotate", "100MB"];
    }
    const tls = cdc.tls === "" ? [] : ["--kafka-tls", cdc.tls];
    return [...common, "--kafka", cdc.brokers, "--topic", topic, ...tls];
  }
}
