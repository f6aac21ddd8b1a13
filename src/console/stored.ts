/** Values that live as long as the tab, and tell who shows them when they change. */

export interface Stored<T> {
  readonly get: () => T;
  readonly set: (value: T) => void;
  readonly subscribe: (listener: () => void) => () => void;
}

/**
 * `storage`: where it is kept; that of the tab for whatever is a secret. A storage that the browser forbids keeps
 * nothing: the value then lasts as long as the page. `read` makes a value of what was kept, whatever that is.
 */
export function makeStored<T>(
  storage: () => Storage,
  name: string,
  read: (kept: unknown) => T,
): Stored<T> {
  const listeners = new Set<() => void>();
  let value = read(load(storage, name));
  return {
    get: () => value,
    set(next) {
      value = next;
      save(storage, name, JSON.stringify(next));
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function load(storage: () => Storage, name: string): unknown {
  try {
    const text = storage().getItem(name);
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function save(storage: () => Storage, name: string, text: string): void {
  try {
    storage().setItem(name, text);
  } catch {
    // Full, or forbidden: nothing is lost but the next visit's beginning.
  }
}
