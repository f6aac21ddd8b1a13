/** The cells of one predicate by slot. Most have the untagged one alone: it needs no table. */
import { encodeCells } from "../../codec/record.ts";

export class Slots {
  #untagged: Uint8Array | undefined = undefined;
  #tagged: Map<string, Uint8Array> | undefined = undefined;

  get size(): number {
    return (this.#untagged === undefined ? 0 : 1) + (this.#tagged?.size ?? 0);
  }

  /** The untagged cell, if there is no other. */
  get only(): Uint8Array | undefined {
    return this.#tagged === undefined || this.#tagged.size === 0 ? this.#untagged : undefined;
  }

  get(slot: string): Uint8Array | undefined {
    return slot === "" ? this.#untagged : this.#tagged?.get(slot);
  }

  set(slot: string, cell: Uint8Array): void {
    if (slot === "") this.#untagged = cell;
    else (this.#tagged ??= new Map()).set(slot, cell);
  }

  delete(slot: string): void {
    if (slot === "") this.#untagged = undefined;
    else this.#tagged?.delete(slot);
  }

  all(): ReadonlyMap<string, Uint8Array> {
    const all = new Map(this.#tagged);
    if (this.#untagged !== undefined) all.set("", this.#untagged);
    return all;
  }

  /** The record's entry. There must be a cell. */
  encode(): Uint8Array {
    return encodeCells(this.all());
  }
}
