/**
 * A file that grows piece by piece, each piece packed for itself: members of gzip one after the other, which every
 * reader takes for one file. So it can be cut behind any piece, and be gone on with. Packing is done by threads of the
 * platform, beside whoever makes the next piece.
 */
import { open, rename, rm, type FileHandle } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

const pack = promisify(gzip);

/** The least that makes text of facts a tenth as long; more costs more than making them. */
export const packLevel = 3;
const underWayMax = 3;

export class PackedFile {
  readonly #path: string;
  readonly #handle: FileHandle;
  #size: number;
  #writing: Promise<void> = Promise.resolve();
  #underWay = 0;
  #wake: (() => void) | undefined = undefined;
  #failure: unknown = undefined;

  private constructor(path: string, handle: FileHandle, size: number) {
    this.#path = path;
    this.#handle = handle;
    this.#size = size;
  }

  /** Goes on behind the first `size` bytes; the file has another name until it is whole. */
  static async open(path: string, size: number): Promise<PackedFile> {
    if (size === 0) await rm(partialName(path), { force: true });
    const handle = await open(partialName(path), size === 0 ? "wx" : "r+", 0o600);
    await handle.truncate(size);
    return new PackedFile(path, handle, size);
  }

  /** The piece is given away. Resolves when there is room for another one. */
  async write(piece: Uint8Array): Promise<void> {
    const packed = pack(piece, { level: packLevel });
    this.#underWay++;
    this.#writing = this.#writing.then(async () => {
      try {
        const bytes = await packed;
        await this.#handle.write(bytes, 0, bytes.length, this.#size);
        this.#size += bytes.length;
      } catch (error) {
        this.#failure ??= error;
      }
      this.#underWay--;
      this.#wake?.();
    });
    while (this.#underWay >= underWayMax) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    this.#raise();
  }

  /** Its size, when all that was written is on the disk. */
  async settle(): Promise<number> {
    await this.#writing;
    this.#raise();
    await this.#handle.sync();
    return this.#size;
  }

  /** It is whole: it gets its name. */
  async finish(): Promise<void> {
    await this.settle();
    await this.#handle.close();
    await rename(partialName(this.#path), this.#path);
  }

  /** As it is. */
  async abandon(): Promise<void> {
    await this.#writing;
    await this.#handle.close();
  }

  #raise(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}

export function partialName(path: string): string {
  return `${path}.partial`;
}
