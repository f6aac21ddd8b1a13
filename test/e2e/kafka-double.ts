/** So much of Kafka as a producer needs: one broker with one topic of one partition, which keeps what it is sent. */
import { createServer, type AddressInfo } from "node:net";

export interface KafkaDouble {
  readonly broker: string;
  readonly kept: {
    readonly key: string;
    readonly value: string;
    readonly headers: Readonly<Record<string, string>>;
  }[];
  close(): void;
}

const produce = 0;
const metadata = 3;
const apiVersions = 18;

/** `refuses`: how many times it says that it does not lead the partition before it keeps anything. */
export async function openKafkaDouble(topic: string, refuses = 0): Promise<KafkaDouble> {
  const kept: KafkaDouble["kept"] = [];
  let left = refuses;
  const answer = (request: Reader, port: number): Buffer | undefined => {
    const api = request.i16();
    const version = request.i16();
    const reply = new Writer().i32(request.i32());
    request.text();
    if (api === apiVersions) {
      reply.i16(0).i32(3);
      reply.i16(produce).i16(0).i16(3).i16(metadata).i16(0).i16(1).i16(apiVersions).i16(0).i16(2);
      if (version > 0) reply.i32(0);
    } else if (api === metadata) {
      reply.i32(1).i32(1).text("127.0.0.1").i32(port).i16(-1).i32(1);
      reply.i32(1).i16(0).text(topic).i8(0).i32(1).i16(0).i32(0).i32(1);
      reply.i32(1).i32(1).i32(1).i32(1);
    } else if (api === produce) {
      const isRefused = left-- > 0;
      request.text();
      request.i16();
      request.i32();
      request.i32();
      const name = request.text();
      request.i32();
      request.i32();
      request.i32();
      if (!isRefused) kept.push(...readBatch(request));
      reply
        .i32(1)
        .text(name)
        .i32(1)
        .i32(0)
        .i16(isRefused ? 6 : 0);
      reply.i64(0n).i64(-1n).i32(0);
    } else return undefined;
    return reply.finish();
  };
  const server = createServer((socket) => {
    socket.on("error", () => {});
    let bytes = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      while (bytes.length >= 4 && bytes.length >= 4 + bytes.readInt32BE(0)) {
        const size = bytes.readInt32BE(0);
        const reply = answer(new Reader(bytes.subarray(4, 4 + size)), port);
        if (reply !== undefined) socket.write(reply);
        bytes = bytes.subarray(4 + size);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { broker: `127.0.0.1:${port}`, kept, close: () => void server.close() };
}

/** A batch of records, version 2, not packed. */
function readBatch(reader: Reader): KafkaDouble["kept"] {
  reader.skip(8 + 4 + 4 + 1 + 4 + 2 + 4 + 8 + 8 + 8 + 2 + 4);
  return Array.from({ length: reader.i32() }, () => {
    reader.varint();
    reader.skip(1);
    reader.varint();
    reader.varint();
    const key = reader.run();
    const value = reader.run();
    const pairs = Array.from({ length: reader.varint() }, () => [reader.run(), reader.run()]);
    return { key, value, headers: Object.fromEntries(pairs) as Record<string, string> };
  });
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  skip(count: number): void {
    this.#at += count;
  }

  i16(): number {
    this.#at += 2;
    return this.#bytes.readInt16BE(this.#at - 2);
  }

  i32(): number {
    this.#at += 4;
    return this.#bytes.readInt32BE(this.#at - 4);
  }

  text(): string {
    return this.#take(this.i16());
  }

  run(): string {
    return this.#take(this.varint());
  }

  varint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes[this.#at++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    }
  }

  #take(count: number): string {
    if (count < 0) return "";
    this.#at += count;
    return this.#bytes.toString("utf8", this.#at - count, this.#at);
  }
}

class Writer {
  readonly #parts: Buffer[] = [];

  i8(value: number): this {
    this.#parts.push(Buffer.of(value));
    return this;
  }

  i16(value: number): this {
    const part = Buffer.alloc(2);
    part.writeInt16BE(value);
    this.#parts.push(part);
    return this;
  }

  i32(value: number): this {
    const part = Buffer.alloc(4);
    part.writeInt32BE(value);
    this.#parts.push(part);
    return this;
  }

  i64(value: bigint): this {
    const part = Buffer.alloc(8);
    part.writeBigInt64BE(value);
    this.#parts.push(part);
    return this;
  }

  text(text: string): this {
    this.i16(Buffer.byteLength(text));
    this.#parts.push(Buffer.from(text));
    return this;
  }

  finish(): Buffer {
    const body = Buffer.concat(this.#parts);
    return Buffer.concat([new Writer().i32(body.length).raw(), body]);
  }

  raw(): Buffer {
    return Buffer.concat(this.#parts);
  }
}
