/**
 * A process's side of the link. When the writer dies, what was under way is sent again to the next one, which knows
 * from the log what it did: a commit is acknowledged, applied, or answered "outcome unknown" when the log is too short.
 */
import { must } from "../../base/assert.ts";
import * as net from "node:net";
import { ByteWriter } from "../../base/bytes.ts";
import { beginFrame, encodeFrame, endFrame, FrameCutter } from "../../base/frames.ts";
import { PendingTable } from "../../base/pending-table.ts";
import { Fault } from "../../model/fault.ts";
import { writeChange } from "../../store/patch-codec.ts";
import { StoreRefusal, type Change } from "../../store/store.ts";
import { gatheredUidsMax, GatheredLeases } from "./gathered-leases.ts";
import { openLinkAddress } from "./link-address.ts";
import { isSlot, readNumbers, readNotice } from "./link-answers.ts";
import {
  decodeError,
  decodeHello,
  encodeHello,
  encodeNumbers,
  frameKind,
  type LinkFrame,
  type FrameKind,
  linkFrameBytesMax,
} from "./link-protocol.ts";
import { decodeLead, type LeadNotice } from "./node-link.ts";

interface LinkClientOptions {
  readonly dir: string;
  readonly storeId: string;
  /** How long a request waits for a writer before it fails. */
  readonly waitMs: number;
  readonly onNotice: (commitTs: number) => void;
  /** Of several machines: how long `askCurrent` waits. */
  readonly currentMs?: number;
  /** The slot that was claimed is not this process's any more. Called once. */
  readonly onSlotLost?: () => void;
  /** Of several machines: whether this one leads, whenever that changes; undefined: its writer is out of reach. */
  readonly onLead?: (lead: LeadNotice | undefined) => void;
  /** The connection to a writer that was there has ended. */
  readonly onLost?: () => void;
  /** A writer is there, again or for the first time. */
  readonly onWelcome?: () => void;
  /** The process reads the data file, for which another one is to be exchanged. */
  readonly file?: ExchangedFile;
}

/** How a process takes part in an exchange of the data file. */
export interface ExchangedFile {
  /** Opens the other one, too. Throws where it cannot. */
  prepare(): void;
  /** Reads from it from now on. */
  use(): void;
  forget(): void;
}

/** Requests that may wait for a writer. */
const pendingMax = 10_000;
const outBytes = 4 * 1024;
/** A larger piece is not kept for the next one. */
const outBytesKept = 256 * 1024;
const retryMsMin = 20;
const retryMsMax = 500;

interface Pending {
  readonly kind: FrameKind;
  readonly encode: (writer: ByteWriter, isResent: boolean) => void;
  readonly resolve: (numbers: readonly number[]) => void;
  readonly reject: (error: Error) => void;
  wasSent: boolean;
  /** A commit that another writer may have done. */
  isResent?: boolean;
}

export class LinkClient {
  private readonly options: LinkClientOptions;
  private readonly pending = new PendingTable<Pending>();
  private socket: net.Socket | undefined = undefined;
  private isReady = false;
  /** Of several machines: the node lives, and looks for whoever leads. */
  private isHeard = false;
  private isClosed = false;
  private retryMs = retryMsMin;
  private retryTimer: NodeJS.Timeout | undefined = undefined;
  private giveUpTimer: NodeJS.Timeout | undefined = undefined;
  private slot: { slot: number; floorTs: number } | undefined = undefined;
  /** Frames of this turn of the event loop, written in one piece at its end. */
  private out = new ByteWriter(outBytes);
  private flushTimer: NodeJS.Immediate | undefined = undefined;
  private readonly leases = new GatheredLeases();
  /** A question that has not left yet. */
  private current: Promise<void> | undefined = undefined;
  /** The newest commit that a notice or an answer told of. */
  newestTs = 0;

  constructor(options: LinkClientOptions) {
    this.options = options;
    this.connect();
  }

  get dir(): string {
    return this.options.dir;
  }

  async commit(change: Change): Promise<number> {
    const sentAfter = Math.max(this.newestTs, change.basisTs);
    const kind = change.beginsLog === true ? frameKind.commitBeginning : frameKind.commit;
    const [commitTs] = await this.ask(kind, (writer, isResent) => {
      writer.varint(sentAfter);
      writer.u8(isResent ? 1 : 0);
      writeChange(writer, change);
    });
    return must(commitTs, "a commit is answered with its timestamp");
  }

  async claimSlot(): Promise<{ slot: number; floorTs: number }> {
    return slotOf(await this.askNumbers(frameKind.claimSlot, encodeNumbers()));
  }

  /**
   * Of several machines: when this one has all that was acknowledged when it was called. What is asked before the frame
   * leaves is one question.
   */
  askCurrent(): Promise<void> {
    if (this.current !== undefined) return this.current;
    const question = this.askWithin(this.options.currentMs ?? 0);
    // Shared until the frames of this turn leave. One that waits for a writer is nobody else's: it may end unanswered.
    if (this.flushTimer !== undefined) this.current = question;
    return question;
  }

  /** A writer that stands still never answers. */
  private askWithin(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const question = { kind: frameKind.current, encode() {}, wasSent: false };
      const timer = setTimeout(() => {
        this.pending.take(request);
        const why = this.isHeard && !this.isReady ? leaderlessWords : silentWords;
        reject(new Fault("E_NOT_CURRENT", `${unknownWords}: ${why} (--cluster read-wait)`));
      }, ms);
      const request = this.enqueue({
        ...question,
        resolve: () => {
          clearTimeout(timer);
          resolve();
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      });
    });
  }

  /** The first of `count` uids in a row. What is asked before the frames of this turn leave is one question. */
  lease(count: number): Promise<number> {
    const isGathered = count <= gatheredUidsMax && this.isReady;
    const leased = isGathered
      ? this.leases.add(count)
      : this.askNumbers(frameKind.lease, encodeNumbers(count)).then(firstOf);
    if (isGathered) this.flushTimer ??= setImmediate(() => this.flush());
    return leased;
  }

  private askGathered(): void {
    const question = this.leases.take();
    if (question === undefined) return;
    this.enqueue({
      kind: frameKind.lease,
      encode: (writer) => writer.raw(encodeNumbers(question.count)),
      resolve: (numbers) => question.resolve(firstOf(numbers)),
      reject: question.reject,
      wasSent: false,
    });
  }

  /** As many numbers as `link-answers.ts` says, within their bounds. */
  askNumbers(kind: FrameKind, payload: Uint8Array): Promise<readonly number[]> {
    return this.ask(kind, (writer) => writer.raw(payload));
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.retryTimer);
    clearTimeout(this.giveUpTimer);
    if (this.flushTimer !== undefined) clearImmediate(this.flushTimer);
    this.askGathered();
    this.socket?.destroy();
    this.failAll("the store is closed");
  }

  private ask(kind: FrameKind, encode: Pending["encode"]): Promise<readonly number[]> {
    return new Promise((resolve, reject) => {
      this.enqueue({ kind, encode, resolve, reject, wasSent: false });
    });
  }

  /** Its number; 0: it was refused. */
  private enqueue(pending: Pending): number {
    if (this.isClosed) {
      pending.reject(unavailable("the store is closed"));
      return 0;
    }
    if (this.pending.size >= pendingMax) {
      pending.reject(new Fault("E_OVERLOADED", "the server is overloaded, please try again"));
      return 0;
    }
    const request = this.pending.add(pending);
    if (this.isReady) this.send(request, pending);
    else this.startGivingUp();
    return request;
  }

  private send(request: number, pending: Pending): void {
    const start = beginFrame(this.out, pending.kind, request);
    try {
      pending.encode(this.out, pending.wasSent);
    } catch (error) {
      this.out.cut(start);
      throw error;
    }
    endFrame(this.out, start);
    pending.wasSent = true;
    this.flushTimer ??= setImmediate(() => this.flush());
  }

  private flush(): void {
    this.askGathered();
    this.flushTimer = undefined;
    this.current = undefined;
    if (this.out.length > 0) this.socket?.write(this.out.finish());
    this.forgetOut();
  }

  private forgetOut(): void {
    if (this.out.length > outBytesKept) this.out = new ByteWriter(outBytes);
    else this.out.reset();
  }

  private connect(): void {
    const { dir, storeId } = this.options;
    let address;
    try {
      address = openLinkAddress(dir);
    } catch {
      this.retryLater();
      return;
    }
    const socket = net.connect(address.path);
    const cutter = new FrameCutter<FrameKind>(linkFrameBytesMax);
    socket.on("connect", () => {
      socket.write(encodeFrame(frameKind.hello, 0, encodeHello({ storeId, slot: this.slot })));
    });
    socket.on("data", (piece: Buffer) => {
      const isOurs = cutter.push(piece, (frame) => {
        if (!socket.destroyed && !this.take(frame)) socket.destroy();
      });
      if (!isOurs) socket.destroy();
    });
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      address.close();
      if (this.isReady && !this.isClosed) this.options.onLost?.();
      this.isReady = false;
      this.isHeard = false;
      // What this machine is told while it is out of reach is not known.
      this.options.onLead?.(undefined);
      this.options.file?.forget();
      this.forgetOut();
      this.socket = undefined;
      if (!this.isClosed) this.retryLater();
    });
    this.socket = socket;
  }

  private retryLater(): void {
    if (this.pending.size > 0) this.startGivingUp();
    this.retryTimer = setTimeout(() => this.connect(), this.retryMs);
    this.retryTimer.unref();
    this.retryMs = Math.min(this.retryMs * 2, retryMsMax);
  }

  /** Without a writer for so long, what waits fails: what was never sent did not happen, the rest is unknown. */
  private startGivingUp(): void {
    if (this.giveUpTimer !== undefined) return;
    this.giveUpTimer = setTimeout(() => {
      this.giveUpTimer = undefined;
      this.failAll("the store's writer does not answer");
    }, this.options.waitMs);
  }

  private failAll(reason: string): void {
    this.current = undefined;
    for (const { kind, wasSent, reject } of this.pending.clear()) {
      const isUnknown = isCommit(kind) && wasSent;
      reject(isUnknown ? unknownOutcome() : unavailable(reason));
    }
  }

  /** false: nobody says that who speaks as this one does. */
  private take(frame: LinkFrame): boolean {
    switch (frame.kind) {
      case frameKind.welcome:
        return this.onWelcome(frame.payload);
      case frameKind.notice: {
        const commitTs = readNotice(frame.payload);
        if (commitTs === undefined) return false;
        this.newestTs = Math.max(this.newestTs, commitTs);
        this.options.onNotice(commitTs);
        return true;
      }
      case frameKind.seeks:
        this.isHeard = true;
        return true;
      case frameKind.lead: {
        const lead = decodeLead(frame.payload);
        if (lead === undefined) return false;
        this.options.onLead?.(lead);
        this.socket?.write(encodeFrame(frameKind.leadHeard, 0, new Uint8Array(0)));
        return true;
      }
      default: {
        if (this.takeOfFile(frame)) return true;
        const pending = this.pending.take(frame.request);
        return pending === undefined || this.settle(pending, frame);
      }
    }
  }

  private settle(pending: Pending, frame: LinkFrame): boolean {
    if (frame.kind === frameKind.answer) {
      const numbers = readNumbers(pending.kind, frame.payload);
      if (numbers === undefined) return this.rejectGarbage(pending);
      // At once: the link may be lost before whoever asked goes on.
      if (pending.kind === frameKind.claimSlot) this.slot = slotOf(numbers);
      pending.resolve(numbers);
      return true;
    }
    const error = decodeError(frame);
    if (error === undefined) return this.rejectGarbage(pending);
    if (error instanceof StoreRefusal && error.reason === "slot") this.loseSlot();
    pending.reject(isUnavailable(error) && pending.isResent ? unknownOutcome() : error);
    return true;
  }

  /** Not sent again: the next answer would be no better. What was done is not known. */
  private rejectGarbage(pending: Pending): false {
    const reason = "the answer of the store's writer cannot be read";
    pending.reject(isCommit(pending.kind) ? unknownOutcome() : unavailable(reason));
    return false;
  }

  /** Whether it is of an exchange of the data file. Who has none open is ready for anything. */
  private takeOfFile({ kind }: LinkFrame): boolean {
    const { file } = this.options;
    switch (kind) {
      case frameKind.prepareFile:
        this.sayOfFile(frameKind.filePrepared, () => file?.prepare());
        return true;
      case frameKind.useFile:
        this.sayOfFile(frameKind.fileUsed, () => file?.use());
        return true;
      case frameKind.forgetFile:
        file?.forget();
        return true;
      default:
        return false;
    }
  }

  private sayOfFile(kind: FrameKind, work: () => void): void {
    let isDone = 1;
    try {
      work();
    } catch {
      isDone = 0;
    }
    this.socket?.write(encodeFrame(kind, 0, encodeNumbers(isDone)));
  }

  private loseSlot(): void {
    if (this.slot === undefined) return;
    this.slot = undefined;
    this.options.onSlotLost?.();
  }

  /** false: it is no writer of this store. */
  private onWelcome(payload: Uint8Array): boolean {
    const hello = decodeHello(payload);
    if (hello === undefined || hello.storeId !== this.options.storeId) return false;
    if (hello.slot !== undefined && !isSlot(hello.slot)) return false;
    if (hello.slot === undefined) this.loseSlot();
    this.options.onWelcome?.();
    this.isReady = true;
    this.retryMs = retryMsMin;
    clearTimeout(this.giveUpTimer);
    this.giveUpTimer = undefined;
    for (const [request, pending] of this.pending.entries()) {
      pending.isResent ||= isCommit(pending.kind) && pending.wasSent;
      this.send(request, pending);
    }
    return true;
  }
}

const unknownWords = "the newest state of the machines cannot be known";
const silentWords = "this machine's node does not answer";
const leaderlessWords = "no machine leads that can be reached";

function isCommit(kind: FrameKind): boolean {
  return kind === frameKind.commit || kind === frameKind.commitBeginning;
}

function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Fault)) return false;
  return error.code === "E_STORE_UNAVAILABLE" || error.code === "E_OUT_OF_SERVICE";
}

function unknownOutcome(): Fault {
  return new Fault("E_OUTCOME_UNKNOWN", "the outcome of the transaction is unknown");
}

function unavailable(reason: string): Fault {
  return new Fault("E_STORE_UNAVAILABLE", reason);
}

function firstOf([first]: readonly number[]): number {
  return must(first, "a lease is answered with its first uid");
}

function slotOf([slot, floorTs]: readonly number[]): { slot: number; floorTs: number } {
  return {
    slot: must(slot, "a claim is answered with a slot"),
    floorTs: must(floorTs, "a slot has its floor"),
  };
}
