/** Shapes as clients send them in messages: Well-Known Binary (OGC 06-103r4, 8.2), told as GeoJSON. */
import type { Buffer } from "node:buffer";
import { Fault } from "../model/fault.ts";

const kinds = { point: 1, polygon: 3, multiPolygon: 6 } as const;

/** The text of a Point, Polygon or MultiPolygon. Throws Fault E_MUTATION. */
export function printShape(bytes: Buffer): string {
  const source = new Source(bytes);
  const { type, coordinates } = readShape(source);
  if (!source.isAtEnd()) throw refuse("there are bytes behind it");
  return JSON.stringify({ type, coordinates });
}

function refuse(reason: string): Fault {
  return new Fault("E_MUTATION", `a shape of a fact is no Well-Known Binary: ${reason}`);
}

type Pair = readonly [number, number];
type Rings = readonly (readonly Pair[])[];

interface Shape {
  readonly type: string;
  readonly coordinates: Pair | Rings | readonly Rings[];
}

function readShape(source: Source): Shape {
  const kind = source.begin();
  if (kind === kinds.point) return { type: "Point", coordinates: source.pair() };
  if (kind === kinds.polygon) return { type: "Polygon", coordinates: readRings(source) };
  if (kind !== kinds.multiPolygon) throw refuse(`type ${kind} is not stored`);
  const coordinates = source.list(() => {
    const inner = source.begin();
    if (inner !== kinds.polygon) throw refuse(`type ${inner} in a MultiPolygon`);
    return readRings(source);
  });
  return { type: "MultiPolygon", coordinates };
}

function readRings(source: Source): Rings {
  return source.list(() => source.list(() => source.pair()));
}

/** Reads numbers; every shape says in which order its bytes are. */
class Source {
  readonly #bytes: Buffer;
  #at = 0;
  #isLittle = true;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** The order of bytes, and the kind of the shape. */
  begin(): number {
    const order = this.#bytes[this.#at];
    if (order !== 0 && order !== 1) throw refuse(`unknown byte order: ${order ?? "none"}`);
    this.#at++;
    this.#isLittle = order === 1;
    return this.#count();
  }

  pair(): Pair {
    return [this.#float(), this.#float()];
  }

  /** No list has more elements than bytes are left: a count that lies is found at the end of the bytes. */
  list<Item>(read: () => Item): Item[] {
    const items: Item[] = [];
    for (let left = this.#count(); left > 0; left--) items.push(read());
    return items;
  }

  #count(): number {
    const at = this.#take(4);
    return this.#isLittle ? this.#bytes.readUInt32LE(at) : this.#bytes.readUInt32BE(at);
  }

  #float(): number {
    const at = this.#take(8);
    return this.#isLittle ? this.#bytes.readDoubleLE(at) : this.#bytes.readDoubleBE(at);
  }

  #take(length: number): number {
    const at = this.#at;
    this.#at += length;
    if (this.#at > this.#bytes.length) throw refuse("it is cut short");
    return at;
  }
}
