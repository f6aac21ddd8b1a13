/** The switches of the server as one of its processes has them: turned through the supervisor, which tells everyone. */
import { type Controls, initialSwitches, type ServerSwitches } from "../admin/controls.ts";
import type { ToChild, ToSupervisor } from "./messages.ts";

export interface LinkedControls extends Controls {
  /** What the supervisor says. */
  hear(message: ToChild): void;
  /** Called after each change. */
  onTurn(listener: (switches: ServerSwitches) => void): void;
}

/** `cacheMb`: as the settings say. */
export function linkControls(
  send: (message: ToSupervisor) => void,
  cacheMb: number,
): LinkedControls {
  let switches: ServerSwitches = { ...initialSwitches, cacheMb };
  let lastId = 0;
  const listeners: ((switches: ServerSwitches) => void)[] = [];
  const waiting = new Map<number, () => void>();
  return {
    get switches() {
      return switches;
    },
    turn: (change) =>
      new Promise((resolve) => {
        waiting.set(++lastId, resolve);
        send({ kind: "turn", id: lastId, change });
      }),
    shutdown: () => send({ kind: "shutdown" }),
    onTurn: (listener) => void listeners.push(listener),
    hear(message) {
      if (message.kind === "switches") {
        switches = message.switches;
        for (const listener of listeners) listener(switches);
        send({ kind: "heard", turn: message.turn });
      } else if (message.kind === "turned") {
        waiting.get(message.id)?.();
        waiting.delete(message.id);
      }
    },
  };
}
