/** The supervisor's half of the switches: it keeps them for children that start later, and waits until all have heard. */
import { initialSwitches, type ServerSwitches } from "../admin/controls.ts";
import type { ToChild } from "./messages.ts";

interface Turn {
  readonly deaf: Set<object>;
  readonly done: () => void;
}

/** Children are told apart by identity alone. */
export class SettingsBroadcast<Child extends object> {
  readonly #tell: (child: Child, message: ToChild) => void;
  #switches: ServerSwitches;
  #lastTurn = 0;
  readonly #turns = new Map<number, Turn>();

  /** `cacheMb`: as the settings say. */
  constructor(tell: (child: Child, message: ToChild) => void, cacheMb: number) {
    this.#tell = tell;
    this.#switches = { ...initialSwitches, cacheMb };
  }

  /** `asker` is told when every one of `children` has heard, or is gone. */
  turn(
    asker: Child,
    id: number,
    change: { readonly switches: Partial<ServerSwitches>; readonly children: readonly Child[] },
  ): void {
    this.#switches = { ...this.#switches, ...change.switches };
    const turn = ++this.#lastTurn;
    const done = (): void => this.#tell(asker, { kind: "turned", id });
    this.#turns.set(turn, { deaf: new Set(change.children), done });
    for (const child of change.children) this.#send(child, turn);
  }

  /** Said by nobody who waits: the settings have changed. */
  set(switches: Partial<ServerSwitches>, children: readonly Child[]): void {
    this.#switches = { ...this.#switches, ...switches };
    for (const child of children) this.#send(child, 0);
  }

  heard(child: Child, turn: number): void {
    const known = this.#turns.get(turn);
    if (known === undefined || !known.deaf.delete(child) || known.deaf.size > 0) return;
    this.#turns.delete(turn);
    known.done();
  }

  /** A child that starts; before it gets its first connection. */
  admit(child: Child): void {
    if (this.#lastTurn > 0) this.#send(child, 0);
  }

  forget(child: Child): void {
    for (const turn of this.#turns.keys()) this.heard(child, turn);
  }

  #send(child: Child, turn: number): void {
    this.#tell(child, { kind: "switches", switches: this.#switches, turn });
  }
}
