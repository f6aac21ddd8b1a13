/**
 * Lines to processes of other machines carry bytes as they are, so nothing says whether a process takes long or its
 * machine is not heard any more. Where something was sent and nothing has come for a while, the machine is asked on a
 * connection of its own; when nothing is heard there either, what waits for it is ended.
 */
import type { Socket } from "node:net";
import { PeerSilent } from "./peer-connection.ts";

interface LineWatchOptions {
  /** Resolves, or rejects, when the machine is heard. Rejects with `PeerSilent` where it is not. */
  readonly probe: (address: string) => Promise<unknown>;
  readonly nowMs: () => number;
  /** So long nothing has to come. */
  readonly quietMs?: number;
}

interface Line {
  readonly far: Socket;
  /** Since when something that was sent is not answered. */
  waitsSinceMs: number | undefined;
}

export class LineWatch {
  readonly #options: LineWatchOptions;
  readonly #quietMs: number;
  readonly #lines = new Map<string, Set<Line>>();
  readonly #probed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LineWatchOptions) {
    this.#options = options;
    this.#quietMs = options.quietMs ?? 2500;
  }

  /** `near`: of this machine; what comes from it is sent to `far`, at an address. */
  add(address: string, near: Socket, far: Socket): void {
    const line: Line = { far, waitsSinceMs: undefined };
    const lines = this.#lines.get(address) ?? new Set();
    lines.add(line);
    this.#lines.set(address, lines);
    near.on("data", () => (line.waitsSinceMs ??= this.#options.nowMs()));
    far.on("data", () => (line.waitsSinceMs = undefined));
    far.once("close", () => {
      lines.delete(line);
      if (lines.size === 0 && this.#lines.get(address) === lines) this.#lines.delete(address);
      if (this.#lines.size === 0) this.close();
    });
    this.#timer ??= setInterval(() => this.#look(), this.#quietMs / 2).unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    const sinceMs = this.#options.nowMs() - this.#quietMs;
    for (const [address, lines] of this.#lines) {
      const waits = [...lines].some((line) => isWaiting(line, sinceMs));
      if (waits && !this.#probed.has(address)) void this.#probe(address, sinceMs);
    }
  }

  async #probe(address: string, sinceMs: number): Promise<void> {
    this.#probed.add(address);
    try {
      await this.#options.probe(address);
    } catch (error) {
      if (!(error instanceof PeerSilent)) return;
      for (const line of this.#lines.get(address) ?? []) {
        if (isWaiting(line, sinceMs)) line.far.destroy();
      }
    } finally {
      this.#probed.delete(address);
    }
  }
}

function isWaiting({ waitsSinceMs }: Line, sinceMs: number): boolean {
  return waitsSinceMs !== undefined && waitsSinceMs <= sinceMs;
}
