/** A line between two ends of TCP that can be cut, made slow, or silent in one direction, and leads where it is told. */
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export type Direction = "out" | "back";

export interface Line {
  readonly port: number;
  /** Of the server behind it, for new connections. */
  target: number;
  /** Of each piece of bytes, on its way. */
  delayMs: number;
  /** Ends what is connected; `isOpen`: whether new connections are taken. */
  cut(isOpen: boolean): void;
  /** Nothing passes in this direction, and nobody is told: what was sent waits, as in a network that loses packets. */
  hush(direction: Direction): void;
  /** As it was at first. */
  heal(): void;
  /** Connections of now. */
  readonly count: number;
  close(): Promise<void>;
}

/** `pick`: of each connection; default: the line's target. Where nobody takes one, the next is tried. */
export async function openLine(target: number, pick?: () => readonly number[]): Promise<Line> {
  const sockets = new Set<Socket>();
  const silent = new Set<Direction>();
  const waiting = new Set<() => void>();
  let isOpen = true;

  function pump(from: Socket, to: Socket, direction: Direction): void {
    let last: Promise<void> = Promise.resolve();
    const pass = async (piece: Buffer): Promise<void> => {
      const { delayMs } = line;
      if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
      while (silent.has(direction) && !to.destroyed) {
        await new Promise<void>((resolve) => waiting.add(resolve));
      }
      if (!to.destroyed && !to.write(piece)) {
        await new Promise<void>((resolve) => {
          to.once("drain", resolve);
          to.once("close", resolve);
        });
      }
    };
    from.on("data", (piece: Buffer) => {
      from.pause();
      last = pass(piece).then(() => void from.resume());
    });
    from.on("end", () => void last.then(() => void to.end()));
  }

  function join(client: Socket, ports: readonly number[]): void {
    const [port, ...others] = ports;
    if (port === undefined || client.destroyed) {
      client.destroy();
      return;
    }
    const upstream = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    upstream.once("error", () => {
      if (upstream.connecting || !upstream.writable) join(client, others);
    });
    upstream.once("connect", () => {
      keep(upstream, client);
      keep(client, upstream);
      pump(client, upstream, "out");
      pump(upstream, client, "back");
    });
  }

  function keep(socket: Socket, other: Socket): void {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      sockets.delete(socket);
      other.destroy();
      wake();
    });
  }

  function wake(): void {
    for (const resolve of waiting) resolve();
    waiting.clear();
  }

  const server = createServer({ allowHalfOpen: true }, (client) => {
    client.on("error", () => client.destroy());
    if (isOpen) join(client, pick?.() ?? [line.target]);
    else client.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const line: Line = {
    port: (server.address() as AddressInfo).port,
    target,
    delayMs: 0,
    get count() {
      return sockets.size / 2;
    },
    cut(stays) {
      isOpen = stays;
      for (const socket of sockets) socket.destroy();
    },
    hush: (direction) => void silent.add(direction),
    heal() {
      isOpen = true;
      line.delayMs = 0;
      silent.clear();
      wake();
    },
    async close() {
      line.heal();
      line.cut(false);
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return line;
}
