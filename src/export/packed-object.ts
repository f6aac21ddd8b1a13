/** A packed file that goes elsewhere while it grows, as members of gzip one after the other. It cannot be gone on with. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { packLevel } from "./packed-file.ts";

const pack = promisify(gzip);

/** Where files of an export go that are no files of this machine. */
export interface ObjectPlace {
  /** undefined where there is none. */
  sizeOf(name: string): Promise<number | undefined>;
  upload(name: string): ObjectUpload;
}

interface ObjectUpload {
  write(bytes: Uint8Array): Promise<void>;
  finish(): Promise<void>;
  abandon(): Promise<void>;
}

export class PackedObject {
  readonly #upload: ObjectUpload;
  #writing: Promise<void> = Promise.resolve();

  constructor(upload: ObjectUpload) {
    this.#upload = upload;
  }

  /** The piece is given away. Resolves, or rejects, when the one before is sent. */
  async write(piece: Uint8Array): Promise<void> {
    const packed = pack(piece, { level: packLevel });
    const before = this.#writing;
    this.#writing = before.then(async () => this.#upload.write(await packed));
    // Its failure is told by the next call.
    this.#writing.catch(() => undefined);
    await before;
  }

  async finish(): Promise<void> {
    await this.#writing;
    await this.#upload.finish();
  }

  async abandon(): Promise<void> {
    await this.#writing.catch(() => undefined);
    await this.#upload.abandon();
  }
}
