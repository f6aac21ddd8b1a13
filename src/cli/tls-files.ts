/** The files of `--tls`: read at the start, and again when they have changed. */
import { createHmac, randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { Logger } from "../base/log.ts";
import { tlsContextOf, type TlsMaterial } from "../http/tls.ts";
import { Fault } from "../model/fault.ts";
import type { TlsConfig } from "./tls-config.ts";

const lookMs = 1_000;

export class TlsFiles {
  readonly #config: TlsConfig;
  readonly #logger: Logger;
  /** Tickets of a run are good in this run alone. */
  readonly #secret = randomBytes(32);
  #material: TlsMaterial;
  #state: string;
  #timer: NodeJS.Timeout | undefined = undefined;

  /** Fault E_USAGE, one line, where they cannot be used. */
  constructor(config: TlsConfig, logger: Logger) {
    this.#config = config;
    this.#logger = logger;
    this.#state = this.#look();
    this.#material = this.#read();
  }

  get material(): TlsMaterial {
    return this.#material;
  }

  /** `listener` is told what has changed. Files that cannot be used, say half of a new pair, change nothing. */
  watch(listener: (material: TlsMaterial) => void): void {
    this.#timer = setInterval(() => {
      const state = this.#look();
      if (state === this.#state) return;
      this.#state = state;
      try {
        this.#material = this.#read();
      } catch (error) {
        const line = error instanceof Error ? error.message : String(error);
        this.#logger.error("certificates have changed and cannot be used", { line });
        return;
      }
      this.#logger.info("certificates have changed, and are used from now on");
      listener(this.#material);
    }, lookMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  get #paths(): string[] {
    const { cert, key, clientCa } = this.#config;
    return clientCa === undefined ? [cert, key] : [cert, key, clientCa];
  }

  #look(): string {
    const describe = (path: string): string => {
      const stats = statSync(path, { throwIfNoEntry: false });
      return stats === undefined ? "" : `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
    };
    return this.#paths.map(describe).join("; ");
  }

  #read(): TlsMaterial {
    const { min, clientAuth } = this.#config;
    const paths = this.#config;
    const cert = readPem(paths.cert, "CERTIFICATE");
    const key = readPem(paths.key, "PRIVATE KEY");
    const clientCa =
      paths.clientCa === undefined ? undefined : readPem(paths.clientCa, "CERTIFICATE");
    const mac = createHmac("sha512", this.#secret);
    for (const text of [cert, key, clientCa ?? ""]) mac.update(`${text.length} ${text}`);
    const ticketKeys = mac.digest().subarray(0, 48).toString("base64");
    const material = { cert, key, clientCa, min, clientAuth, ticketKeys };
    try {
      createSecureContext(tlsContextOf(material));
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new Fault("E_USAGE", `--tls: certificate and key cannot be used (${why})`, { cause });
    }
    return material;
  }
}

/**
 * The text of a file that has a block of that kind (RFC 7468). One that is being written is empty for a moment; without a
 * certificate every handshake would fail, and without an authority the public ones would stand for the operator's.
 */
function readPem(path: string, kind: "CERTIFICATE" | "PRIVATE KEY"): string {
  const text = readText(path);
  const isThere = new RegExp(`^-----BEGIN (?:[A-Z0-9]+ )*${kind}-----`, "m").test(text);
  if (isThere) return text;
  throw new Fault("E_USAGE", `--tls: ${path} holds no ${kind.toLowerCase()} in PEM`);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new Fault("E_USAGE", `--tls: ${path} cannot be read`, { cause });
  }
}
