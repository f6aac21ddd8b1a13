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
  /**
   * For connections alone whose client's port it says yes to, those of now and those to come: they end, or nothing passes
   * in either direction where `isSilent`.
   */
  part(isFrom: (port: number) => boolean, isSilent: boolean): void;
  /** As it was at first. */
  heal(): void;
  /** Connections of now. */
  readonly count: number;
  close(): Promise<void>;
}

interface Way {
  readonly direction: Direction;
  /** Of the client. */
  readonly port: number;
}

/** `pick`: of each connection; default: the line's target. Where nobody takes one, the next is tried. */
export async function openLine(target: number, pick?: () => readonly number[]): Promise<Line> {
  const sockets = new Set<Socket>();
  const clients = new Map<Socket, number>();
  const silent = new Set<Direction>();
  const waiting = new Set<() => void>();
  let isOpen = true;
  let parted: { isFrom(port: number): boolean; readonly isSilent: boolean } | undefined;
  /** Clients on whose connections nothing passes, by their ports. */
  const hushed = new Set<number>();

  function pump(from: Socket, to: Socket, { direction, port }: Way): void {
    let last: Promise<void> = Promise.resolve();
    const pass = async (piece: Buffer): Promise<void> => {
      const { delayMs } = line;
      if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
      while ((silent.has(direction) || hushed.has(port)) && !to.destroyed) {
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
      if (!isOpen || client.destroyed) {
        client.destroy();
        upstream.destroy();
        return;
      }
      keep(upstream, client);
      keep(client, upstream);
      const port = client.remotePort ?? 0;
      clients.set(client, port);
      pump(client, upstream, { direction: "out", port });
      pump(upstream, client, { direction: "back", port });
    });
  }

  function keep(socket: Socket, other: Socket): void {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      sockets.delete(socket);
      clients.delete(socket);
      other.destroy();
      wake();
    });
  }

  function wake(): void {
    for (const resolve of waiting) resolve();
    waiting.clear();
  }

  /** false: it is to end. */
  function letIn(client: Socket, port: number): boolean {
    if (parted?.isFrom(port) !== true) return true;
    if (!parted.isSilent) return false;
    hushed.add(port);
    client.once("close", () => hushed.delete(port));
    return true;
  }

  const server = createServer({ allowHalfOpen: true }, (client) => {
    client.on("error", () => client.destroy());
    if (!isOpen || !letIn(client, client.remotePort ?? 0)) client.destroy();
    else join(client, pick?.() ?? [line.target]);
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
    part(isFrom, isSilent) {
      parted = { isFrom, isSilent };
      for (const [client, port] of clients) if (!letIn(client, port)) client.destroy();
    },
    heal() {
      isOpen = true;
      line.delayMs = 0;
      silent.clear();
      parted = undefined;
      hushed.clear();
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
