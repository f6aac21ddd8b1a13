/** The leader's end of the roster: it writes down who is there, raises the form of rows, and evicts. */
import type { Logger } from "../base/log.ts";
import type { ClusterMember } from "../model/cluster-facts.ts";
import { Fault } from "../model/fault.ts";
import type { LeadingStore, NodeStore } from "../stores/open.ts";
import type { PeerHello } from "./peer-words.ts";
import type { Replica } from "./replica.ts";
import { isSameEntry, readRoster, writeRoster, type RosterEntry } from "./roster.ts";

interface RosterKeeperOptions {
  readonly node: NodeStore;
  readonly store: LeadingStore;
  readonly replica: Replica;
  readonly logger: Logger;
  /** Of this machine. */
  readonly own: Omit<RosterEntry, "isEvicted">;
  /** Of those that are connected. */
  readonly hellos: () => readonly (PeerHello & { readonly purpose: "follow" })[];
  /** Ends what there is of a machine. */
  readonly part: (node: string) => void;
  /** Somebody is in the roster, or is not any more. */
  readonly onChange: () => void;
}

export class RosterKeeper {
  readonly #options: RosterKeeperOptions;
  #noting: Promise<void> = Promise.resolve();
  #notes = 0;
  #entries: readonly RosterEntry[];

  constructor(options: RosterKeeperOptions) {
    this.#options = options;
    this.#entries = readRoster(options.node);
  }

  get entries(): readonly RosterEntry[] {
    return this.#entries;
  }

  /** Machines that are in the roster, and not connected. */
  get away(): readonly ClusterMember[] {
    const here = new Set(this.#present.map(({ node }) => node));
    return this.#entries
      .filter(({ node, isEvicted }) => !isEvicted && !here.has(node))
      .map(({ node, address, formats }) => ({
        node,
        address,
        formats,
        slots: [],
        leads: false,
        applied: 0,
        isAway: true,
        problem: undefined,
      }));
  }

  /** Writes down who is there, where that is not known yet. Never rejects: it is tried again with the next beat. */
  note(): Promise<void> {
    // One runs, and one that waits for it writes what came meanwhile.
    if (this.#notes < 2) {
      this.#notes++;
      this.#noting = this.#noting.then(() => this.#noteOnce()).finally(() => this.#notes--);
    }
    return this.#noting;
  }

  async #noteOnce(): Promise<void> {
    const fresh = this.#present.filter(
      (one) =>
        !isSameEntry(
          one,
          this.#entries.find(({ node }) => node === one.node),
        ),
    );
    if (fresh.length === 0) return;
    try {
      await this.#write(fresh);
    } catch (error) {
      this.#options.logger.warn("the roster of the machines is not written", {
        why: String(error),
      });
    }
  }

  /** In words what was done. Fault E_CLUSTER where that cannot be. */
  async finalize(): Promise<string> {
    const { replica, own } = this.#options;
    await this.note();
    const now = replica.format;
    const newest = Math.max(...own.formats);
    const members = this.#entries.filter(({ isEvicted }) => !isEvicted);
    if (newest <= now) {
      return `nothing is to finalize: rows have format ${now}, the newest that ${own.node} writes`;
    }
    const common = own.formats.filter(
      (format) => format > now && members.every(({ formats }) => formats.includes(format)),
    );
    if (common.length === 0) {
      const older = members
        .filter(({ formats }) => !formats.includes(newest))
        .map(({ node, formats }) => `${node} (${formats.join(", ")})`);
      throw new Fault(
        "E_CLUSTER",
        `not every machine reads format ${newest}: ${older.join(", ")}; upgrade them, or evict those that are gone for good`,
      );
    }
    const next = Math.max(...common);
    await replica.raiseFormat(next);
    this.#options.logger.info("the machines were finalized", { format: next });
    return `rows have format ${next} from now on, and had ${now}: older versions do not start any more`;
  }

  /** In words what was done. Fault E_CLUSTER where that cannot be. */
  async evict(node: string, isForced: boolean): Promise<string> {
    const { own, part, logger } = this.#options;
    if (node === own.node) {
      throw new Fault("E_CLUSTER", `${node} leads: have it resign, and evict it then`);
    }
    await this.note();
    const entry = this.#entries.find((one) => one.node === node);
    if (entry === undefined) throw new Fault("E_CLUSTER", `there is no machine ${node}`);
    if (entry.isEvicted) throw new Fault("E_CLUSTER", `${node} was evicted before`);
    const isHere = this.#present.some((one) => one.node === node);
    if (isHere && !isForced) {
      throw new Fault("E_CLUSTER", `${node} is connected: end it, or evict it with force`);
    }
    await this.#write([{ ...entry, isEvicted: true }]);
    part(node);
    logger.info("a machine was evicted", { node });
    return `${node} is not one of the machines any more; it can come back with a new directory`;
  }

  get #present(): readonly RosterEntry[] {
    const others = this.#options.hellos().map(({ node, address, incarnation = "", formats }) => ({
      node,
      address,
      incarnation,
      formats,
      isEvicted: false,
    }));
    return [{ ...this.#options.own, isEvicted: false }, ...others];
  }

  async #write(entries: readonly RosterEntry[]): Promise<void> {
    await writeRoster(this.#options.store, entries);
    const written = new Set(entries.map(({ node }) => node));
    this.#entries = [...this.#entries.filter(({ node }) => !written.has(node)), ...entries];
    this.#options.onChange();
  }
}
