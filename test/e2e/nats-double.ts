/** So much of NATS as a publisher to a stream of JetStream needs: it answers each message as a stream that keeps it. */
import { createServer, type AddressInfo, type Socket } from "node:net";

export interface NatsDouble {
  readonly url: string;
  /** Subject, id and text of each message that was kept. */
  readonly kept: { readonly subject: string; readonly id: string; readonly text: string }[];
  close(): void;
}

/** `refuses`: how many messages are refused before the first is kept. */
export async function openNatsDouble(refuses = 0): Promise<NatsDouble> {
  const kept: NatsDouble["kept"] = [];
  let left = refuses;
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.write(
      `INFO {"server_id":"double","version":"2.10.0","headers":true,"max_payload":1048576}\r\n`,
    );
    let bytes = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      for (let used = 1; used > 0; bytes = bytes.subarray(used)) used = hear(socket, bytes);
    });
  });
  const subscriptions = new Map<string, string>();

  /** How many bytes were a whole command; 0 for none. */
  function hear(socket: Socket, bytes: Buffer): number {
    const end = bytes.indexOf("\r\n");
    if (end < 0) return 0;
    const words = bytes.toString("latin1", 0, end).split(" ");
    if (words[0] === "PING") socket.write("PONG\r\n");
    if (words[0] === "SUB")
      subscriptions.set((words[1] ?? "").replace(/\*$/, ""), words.at(-1) ?? "");
    if (words[0] !== "HPUB") return end + 2;
    const [, subject = "", reply = "", headBytes, allBytes] = words;
    const from = end + 2;
    const whole = from + Number(allBytes) + 2;
    if (bytes.length < whole) return 0;
    const head = bytes.toString("utf8", from, from + Number(headBytes));
    const text = bytes.toString("utf8", from + Number(headBytes), whole - 2);
    const [, id = ""] = /Nats-Msg-Id: (.*)\r/.exec(head) ?? [];
    const isRefused = left-- > 0;
    if (!isRefused) kept.push({ subject, id, text });
    const answer = isRefused
      ? '{"error":{"code":503,"description":"the stream is busy"}}'
      : `{"stream":"W","seq":${kept.length}}`;
    const [, sid] = [...subscriptions].find(([prefix]) => reply.startsWith(prefix)) ?? [];
    socket.write(`MSG ${reply} ${sid ?? "1"} ${answer.length}\r\n${answer}\r\n`);
    return whole;
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `nats://127.0.0.1:${port}`, kept, close: () => void server.close() };
}
