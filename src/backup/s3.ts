/** Backups in a bucket of a server that speaks S3, by paths (`ENDPOINT/BUCKET/PREFIX/NAME`). An object is whole or absent. */
import { createHash } from "node:crypto";
import { AwsClient } from "aws4fetch";
import { Fault } from "../model/fault.ts";
import type { BackupPlace } from "./place.ts";
import { S3Upload, type Upload } from "./s3-upload.ts";

export interface S3Account {
  /** As `https://s3.example:9000`. */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
}

/** A place that also takes objects piece by piece. */
export interface Bucket extends BackupPlace {
  /** Of an object that is not there before it is finished. */
  upload(name: string): Upload;
}

/** Of one request; the library tries again where the server is busy. */
const answerMs = 120_000;
const retries = 5;
const lockName = "lock";
const lockMs = 24 * 3_600_000;

/** `prefix`: without slashes at its ends, "" for none. */
export function openBucket(account: S3Account, bucket: string, prefix: string): Bucket {
  return new S3Place(account, bucket, prefix);
}

interface Answer {
  readonly status: number;
  readonly body: Buffer;
  readonly length: number;
  /** As the header has it, with its quotes. */
  readonly etag: string;
}

class S3Place implements Bucket {
  readonly #url: string;
  readonly #client: AwsClient;
  readonly #bucketUrl: string;
  /** Before each name. */
  readonly #front: string;

  constructor(account: S3Account, bucket: string, prefix: string) {
    const { endpoint, region, accessKeyId, secretAccessKey, sessionToken } = account;
    this.#url = `s3://${bucket}/${prefix}`;
    this.#bucketUrl = `${endpoint}/${bucket}`;
    this.#front = prefix === "" ? "" : `${prefix}/`;
    this.#client = new AwsClient({
      service: "s3",
      region,
      accessKeyId,
      secretAccessKey,
      retries,
      ...(sessionToken === undefined ? {} : { sessionToken }),
    });
  }

  async sizeOf(name: string): Promise<number | undefined> {
    const answer = await this.#ask("HEAD", `/${this.#front}${name}`);
    return answer.status === 404 ? undefined : answer.length;
  }

  async get(name: string): Promise<Buffer | undefined> {
    const answer = await this.#ask("GET", `/${this.#front}${name}`);
    return answer.status === 404 ? undefined : answer.body;
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    const { status } = await this.#ask("PUT", `/${this.#front}${name}`, bytes);
    if (status === 404) throw this.#refusal("PUT", "there is no such bucket");
  }

  upload(name: string): Upload {
    return new S3Upload({
      put: (bytes) => this.put(name, bytes),
      ask: async (method, query, body) => {
        const answer = await this.#ask(method, `/${this.#front}${name}?${query}`, body);
        const text = answer.body.toString("utf8");
        const code = /<Code>(?<code>\w+)</.exec(text)?.groups?.["code"];
        if (answer.status !== 404 && code === undefined) return { text, etag: answer.etag };
        throw this.#refusal(method, code ?? "there is no such bucket");
      },
    });
  }

  async list(folder: string): Promise<string[]> {
    const found: string[] = [];
    for (let token: string | undefined = ""; token !== undefined;) {
      const query = new URLSearchParams({ "list-type": "2", prefix: `${this.#front}${folder}/` });
      if (token !== "") query.set("continuation-token", token);
      const { status, body } = await this.#ask("GET", `?${query.toString()}`);
      if (status === 404) throw this.#refusal("GET", "there is no such bucket");
      const text = body.toString("utf8");
      for (const match of text.matchAll(/<Key>(?<key>[^<]*)<\/Key>/g)) {
        found.push((match.groups?.["key"] ?? "").slice(this.#front.length + folder.length + 1));
      }
      token = /<NextContinuationToken>(?<next>[^<]+)</.exec(text)?.groups?.["next"];
    }
    return found;
  }

  async remove(name: string): Promise<void> {
    await this.#ask("DELETE", `/${this.#front}${name}`);
  }

  /** An object says who writes there; what is as old as a day was left by somebody who is gone. */
  async claim(nowMs: number): Promise<() => Promise<void>> {
    const held = await this.get(lockName);
    const since = held === undefined ? 0 : Number(held.toString());
    if (nowMs - since < lockMs) {
      const when = new Date(since).toISOString();
      throw new Fault(
        "E_BACKUP",
        `somebody writes to ${this.#url} since ${when}; remove the object ${lockName} if they are gone`,
      );
    }
    await this.put(lockName, Buffer.from(String(nowMs)));
    return () => this.remove(lockName);
  }

  /** Gives the answer where it is 2xx or 404. Fault E_STARTUP for all else, and where there is none. */
  async #ask(method: string, path: string, body?: Uint8Array): Promise<Answer> {
    const sum = createHash("sha256")
      .update(body ?? "")
      .digest("hex");
    try {
      const answer = await this.#client.fetch(this.#bucketUrl + path, {
        method,
        headers: { "x-amz-content-sha256": sum },
        signal: AbortSignal.timeout(answerMs),
        ...(body === undefined ? {} : { body: Buffer.from(body) }),
      });
      const bytes = Buffer.from(await answer.arrayBuffer());
      const code = /<Code>(?<code>\w+)</.exec(bytes.toString("utf8"))?.groups?.["code"] ?? "";
      if (answer.ok || (answer.status === 404 && absentCodes.includes(code))) {
        const length = Number(answer.headers.get("content-length"));
        const etag = answer.headers.get("etag") ?? "";
        return { status: answer.status, body: bytes, length, etag };
      }
      throw this.#refusal(method, `${answer.status} ${code}`.trim());
    } catch (error) {
      if (error instanceof Fault) throw error;
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      throw this.#refusal(method, cause instanceof Error ? cause.message : String(cause));
    }
  }

  #refusal(method: string, why: string): Fault {
    return new Fault("E_STARTUP", `${method} of ${this.#url} at ${this.#bucketUrl}: ${why}`);
  }
}

/** Of a 404 that says that something is not there; an answer to HEAD has none. Others tell of wrong credentials so. */
const absentCodes: readonly string[] = ["", "NoSuchKey", "NoSuchBucket", "NoSuchUpload"];
