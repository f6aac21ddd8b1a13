/**
 * The link of a machine that is one of several (reference/log 7): the server's processes connect to it as to a writer,
 * whoever leads. What they ask of the writer goes to the session that the host opens for them, here or on another
 * machine; an answer is handed on when this machine has applied what it rests on. When the session is lost the process
 * is parted from, too: it connects again and sends again what was under way, as when a writer dies.
 */
import type { Socket } from "node:net";
import { concatBytes, decodeUtf8, encodeUtf8 } from "../../base/bytes.ts";
import { encodeFrame, FrameCutter } from "../../base/frames.ts";
import type { Logger } from "../../base/log.ts";
import { Fault } from "../../model/fault.ts";
import {
  decodeHello,
  decodeNumbers,
  encodeError,
  encodeHello,
  encodeNumbers,
  frameKind,
  linkFrameBytesMax,
  type FrameKind,
  type LinkFrame,
} from "./link-protocol.ts";
import type { SlotToken } from "./slot-keeper.ts";

/** An answer of whoever leads; it rests on all of the log up to `seq`. */
export interface PlacedAnswer {
  readonly kind: number;
  readonly payload: Uint8Array;
  readonly seq: number;
}

/** What a process may ask of whoever leads, and is sent on as it is. */
export interface ProcessSession {
  /** Whether the slot is still the process's that it had before. */
  readonly hasSlot: boolean;
  /** Rejects only where the session is lost. */
  ask(kind: number, payload: Uint8Array): Promise<PlacedAnswer>;
  /** Called once. */
  onLost(listener: () => void): void;
  close(): void;
}

/** Until when this machine leads for certain, in milliseconds of `process.hrtime`, which all processes share. */
export interface LeadTerm {
  readonly untilMs: number;
  /** The wall clock less that of `hrtime` then: where it moves by much, the machine stood still. */
  readonly wallOffsetMs: number;
}

/** What processes are told of who leads. */
export type LeadNotice =
  | { readonly kind: "leads"; readonly term: LeadTerm }
  | { readonly kind: "follows" }
  /** This machine cannot go on: nothing is read from it, and `why` is told. */
  | { readonly kind: "stopped"; readonly why: string };

export interface NodeLinkHost {
  /**
   * Resolves when somebody leads. Rejects with a Fault where this machine cannot go on, which is told; with any other
   * error where it is closed.
   */
  openSession(slot: SlotToken | undefined): Promise<ProcessSession>;
  /** All that was acknowledged anywhere when it was called is applied. Rejects with a Fault where that takes too long. */
  whenCurrent(): Promise<void>;
  /** The log is applied up to a record, or that takes too long to wait for. */
  whenApplied(seq: number): Promise<void>;
  /** Nothing is written until what it gives is called. */
  pause(): Promise<() => void>;
}

interface NodeLinkOptions {
  readonly storeId: string;
  readonly host: NodeLinkHost;
  readonly logger: Logger;
  /** The newest commit that this machine has applied. */
  readonly commitTs: () => number;
}

/** How long a process is waited for that says that it has heard who leads. */
const heardMsMax = 200;

export class NodeLink {
  readonly #options: NodeLinkOptions;
  readonly #connections = new Set<NodeConnection>();
  #lead: LeadNotice = { kind: "follows" };

  constructor(options: NodeLinkOptions) {
    this.#options = options;
  }

  /** A process that connects. */
  take(socket: Socket): void {
    const connection = new NodeConnection(socket, this.#options, () => this.#lead);
    this.#connections.add(connection);
    socket.once("close", () => this.#connections.delete(connection));
    socket.resume();
  }

  notify(commitTs: number): void {
    for (const connection of this.#connections) connection.notify(commitTs);
  }

  /** Resolves with whether all processes have heard it. */
  async tellLead(lead: LeadNotice): Promise<boolean> {
    this.#lead = lead;
    const heard = [...this.#connections].map((connection) => connection.tellLead(lead));
    return (await Promise.all(heard)).every((one) => one);
  }

  /** Slots of the processes that are connected. */
  get slots(): readonly number[] {
    return [...this.#connections].flatMap(({ slot }) => slot?.slot ?? []);
  }

  /** Parts from all processes; they connect again. */
  partAll(): void {
    for (const connection of this.#connections) connection.part();
  }
}

/** Opening takes a millisecond or two. */
const pauseMsMax = 2000;

class NodeConnection {
  readonly #socket: Socket;
  readonly #options: NodeLinkOptions;
  readonly #lead: () => LeadNotice;
  readonly #cutter = new FrameCutter<FrameKind>(linkFrameBytesMax);
  #isGreeted = false;
  #isWelcome = false;
  #slot: SlotToken | undefined = undefined;
  #session: Promise<ProcessSession> | undefined = undefined;
  #resume: () => void = () => {};
  #heard: (() => void)[] = [];
  #waiting: Uint8Array[] = [];

  constructor(socket: Socket, options: NodeLinkOptions, lead: () => LeadNotice) {
    this.#socket = socket;
    this.#options = options;
    this.#lead = lead;
    socket.on("data", (piece: Buffer) => {
      if (!this.#cutter.push(piece, (frame) => this.#take(frame))) socket.destroy();
    });
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      this.#resume();
      for (const heard of this.#heard.splice(0)) heard();
      this.#session?.then((session) => session.close()).catch(() => {});
      this.#session = undefined;
    });
  }

  get slot(): SlotToken | undefined {
    return this.#slot;
  }

  part(): void {
    this.#socket.destroy();
  }

  notify(commitTs: number): void {
    if (this.#isWelcome) this.#send(frameKind.notice, 0, encodeNumbers(commitTs));
  }

  /** Whether the process has heard it, or is gone. */
  tellLead(lead: LeadNotice): Promise<boolean> {
    if (!this.#isWelcome || this.#socket.destroyed) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), heardMsMax);
      this.#heard.push(() => {
        clearTimeout(timer);
        resolve(true);
      });
      this.#send(frameKind.lead, 0, encodeLead(lead));
    });
  }

  #take(frame: LinkFrame): void {
    if (!this.#isGreeted) {
      this.#isGreeted = true;
      void this.#greet(frame).catch(() => this.#socket.destroy());
      return;
    }
    if (frame.kind === frameKind.leadHeard) {
      this.#heard.shift()?.();
      return;
    }
    this.#serve(frame).then(
      ({ kind, payload }) => this.#send(kind as FrameKind, frame.request, payload),
      // Whoever leads is lost, and with it what came of the request: it is sent again.
      () => this.#socket.destroy(),
    );
  }

  async #greet(frame: LinkFrame): Promise<void> {
    const { storeId } = this.#options;
    const hello = frame.kind === frameKind.hello ? decodeHello(frame.payload) : undefined;
    if (hello?.storeId !== storeId) throw new Error("another store's");
    if (hello.slot !== undefined) {
      this.#slot = hello.slot;
      this.#send(frameKind.seeks, 0, new Uint8Array(0));
      if (!(await this.#isStillHeld())) this.#slot = undefined;
    }
    this.#isWelcome = true;
    this.#send(frameKind.welcome, frame.request, encodeHello({ storeId, slot: this.#slot }));
    this.notify(this.#options.commitTs());
    void this.tellLead(this.#lead());
  }

  /** A machine that cannot go on does not know; its process stays, to tell why. */
  async #isStillHeld(): Promise<boolean> {
    try {
      return (await this.#openSession()).hasSlot;
    } catch (error) {
      if (error instanceof Fault) return true;
      throw error;
    }
  }

  #openSession(): Promise<ProcessSession> {
    this.#session ??= this.#options.host.openSession(this.#slot).then((session) => {
      if (this.#socket.destroyed) session.close();
      else session.onLost(() => this.#socket.destroy());
      return session;
    });
    return this.#session;
  }

  async #serve({ kind, payload }: LinkFrame): Promise<{ kind: number; payload: Uint8Array }> {
    switch (kind) {
      case frameKind.pause:
        await this.#pause();
        return done;
      case frameKind.resume:
        this.#resume();
        return done;
      case frameKind.current:
        try {
          await this.#options.host.whenCurrent();
          return done;
        } catch (error) {
          return encodeError(error);
        }
      case frameKind.compactBegin:
      case frameKind.compactExchange:
        return encodeError(new Fault("E_STARTUP", ofMachines));
      default: {
        let session: ProcessSession;
        try {
          session = await within(this.#openSession(), leadWaitMs);
        } catch (error) {
          if (error instanceof Fault) return encodeError(error);
          throw error;
        }
        const answer = await session.ask(kind, payload);
        await this.#options.host.whenApplied(answer.seq);
        if (kind === frameKind.claimSlot && answer.kind === frameKind.answer) {
          const [slot = 0, floorTs = 0] = decodeNumbers(answer.payload);
          this.#slot = { slot, floorTs };
        }
        return answer;
      }
    }
  }

  /** Until it asks to go on, or is gone, or has taken too long: a process that stands still stops nobody else. */
  async #pause(): Promise<void> {
    const { host, logger } = this.#options;
    this.#resume();
    const goOn = await host.pause();
    if (this.#socket.destroyed) {
      goOn();
      return;
    }
    const timer = setTimeout(() => {
      logger.warn("a process takes long to open the store; commits go on", { ms: pauseMsMax });
      this.#resume();
    }, pauseMsMax);
    this.#resume = () => {
      clearTimeout(timer);
      goOn();
    };
  }

  /** What a turn of the event loop gives to say leaves in one write. */
  #send(kind: FrameKind, request: number, payload: Uint8Array): void {
    if (this.#socket.destroyed) return;
    this.#waiting.push(encodeFrame(kind, request, payload));
    if (this.#waiting.length === 1) queueMicrotask(() => process.nextTick(this.#flush));
  }

  readonly #flush = (): void => {
    const frames = this.#waiting.splice(0);
    if (frames.length > 0 && !this.#socket.destroyed) this.#socket.write(concatBytes(...frames));
  };
}

const ofMachines =
  "the store of one of several machines is compacted while its server does not run; the others go on meanwhile";

/** A request that has not been sent anywhere ends when nobody has led for so long. */
const leadWaitMs = 10_000;

async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Fault("E_STORE_UNAVAILABLE", "no machine leads that can be reached"));
    }, ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

const done = { kind: frameKind.answer, payload: encodeNumbers() };

/** A byte that says which: 0 follows, 1 leads, with two numbers, 2 stopped, with a text. */
function encodeLead(lead: LeadNotice): Uint8Array {
  switch (lead.kind) {
    case "follows":
      return Uint8Array.of(0);
    case "leads": {
      const bytes = new Uint8Array(17);
      const view = new DataView(bytes.buffer);
      view.setUint8(0, 1);
      view.setFloat64(1, lead.term.untilMs, true);
      view.setFloat64(9, lead.term.wallOffsetMs, true);
      return bytes;
    }
    case "stopped":
      return concatBytes(Uint8Array.of(2), encodeUtf8(lead.why));
  }
}

/** undefined: it is none. */
export function decodeLead(payload: Uint8Array): LeadNotice | undefined {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  switch (payload[0]) {
    case 1: {
      if (payload.length !== 17) return undefined;
      const term = { untilMs: view.getFloat64(1, true), wallOffsetMs: view.getFloat64(9, true) };
      const isTime = Number.isFinite(term.untilMs) && Number.isFinite(term.wallOffsetMs);
      return isTime ? { kind: "leads", term } : undefined;
    }
    case 2:
      return { kind: "stopped", why: decodeUtf8(payload.subarray(1)) };
    case 0:
      return { kind: "follows" };
    default:
      return undefined;
  }
}
