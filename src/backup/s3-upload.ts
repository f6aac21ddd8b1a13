/** An object that is sent in parts (S3 multipart upload); one that is no longer than a part is sent at once. */

export interface Upload {
  write(bytes: Uint8Array): Promise<void>;
  /** It is there, whole. */
  finish(): Promise<void>;
  /** Nothing of it stays, as far as the bucket can be reached. */
  abandon(): Promise<void>;
}

interface UploadParts {
  /** The whole object. */
  put(bytes: Uint8Array): Promise<void>;
  /** `query`: of the object's URL. */
  ask(
    method: string,
    query: string,
    body?: Uint8Array,
  ): Promise<{ readonly text: string; readonly etag: string }>;
}

/** S3 takes 10,000 parts of 5 MiB to 5 GiB: so an object may have 156 GiB. */
const partBytes = 16 * 1024 * 1024;

export class S3Upload implements Upload {
  readonly #parts: UploadParts;
  /** Undefined: nothing was sent. */
  #id: string | undefined = undefined;
  readonly #etags: string[] = [];
  #pieces: Uint8Array[] = [];
  #size = 0;

  constructor(parts: UploadParts) {
    this.#parts = parts;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#pieces.push(bytes);
    this.#size += bytes.length;
    if (this.#size >= partBytes) await this.#send();
  }

  async finish(): Promise<void> {
    if (this.#id === undefined) return await this.#parts.put(this.#take());
    if (this.#size > 0) await this.#send();
    const parts = this.#etags.map((etag, i) => {
      return `<Part><PartNumber>${i + 1}</PartNumber><ETag>${etag}</ETag></Part>`;
    });
    const list = `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`;
    await this.#parts.ask("POST", this.#query(), Buffer.from(list));
  }

  async abandon(): Promise<void> {
    if (this.#id === undefined) return;
    // What ended the export is told; a bucket that cannot be reached does not take its place.
    await this.#parts.ask("DELETE", this.#query()).catch(() => undefined);
  }

  async #send(): Promise<void> {
    this.#id ??= await this.#begin();
    const query = `partNumber=${this.#etags.length + 1}&${this.#query()}`;
    const { etag } = await this.#parts.ask("PUT", query, this.#take());
    this.#etags.push(etag);
  }

  async #begin(): Promise<string> {
    const { text } = await this.#parts.ask("POST", "uploads=");
    return /<UploadId>(?<id>[^<]+)</.exec(text)?.groups?.["id"] ?? "";
  }

  #query(): string {
    return `uploadId=${encodeURIComponent(this.#id ?? "")}`;
  }

  #take(): Buffer {
    const bytes = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#size = 0;
    return bytes;
  }
}
