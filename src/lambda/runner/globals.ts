/**
 * The globals of a resolver's process: what scripts may use stays, the ways out go. No object that leads to Node's own
 * (streams, sockets, the process, modules) can be reached from what is left; a test walks all of it. What one call
 * could change for the next is frozen (`--frozen-intrinsics`, `lockGlobals`); a script's own variables are its own.
 */

/** The language's own, and what the web platform gives without a network. */
const kept: ReadonlySet<string> = new Set([
  ..."globalThis global URL URLSearchParams AbortController AbortSignal Event EventTarget DOMException".split(
    " ",
  ),
  ..."TextEncoder TextDecoder TextEncoderStream TextDecoderStream".split(" "),
  ..."ReadableStream ReadableStreamDefaultReader ReadableStreamBYOBReader WritableStream TransformStream".split(
    " ",
  ),
  ..."clearInterval clearTimeout setInterval setTimeout queueMicrotask structuredClone atob btoa".split(
    " ",
  ),
  ..."Blob File FormData Headers Request Response crypto Crypto CryptoKey SubtleCrypto performance".split(
    " ",
  ),
  ..."CustomEvent Buffer setImmediate clearImmediate WebAssembly escape unescape".split(" "),
]);

/** Removes everything else that the process brings: `process`, `require`, Node's modules, sockets. */
export function closeGlobals(): void {
  // Loaded at their first use, from what is gone then.
  for (const name of kept) void (globalThis as Record<string, unknown>)[name];
  const language = new Set(languageGlobals());
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (kept.has(name) || language.has(name)) continue;
    delete (globalThis as Record<string, unknown>)[name];
  }
  for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
    if (symbol === Symbol.toStringTag) continue;
    // The dispatcher of Node's own requests cannot be deleted, but emptied.
    Object.defineProperty(globalThis, symbol, { value: undefined, writable: false });
  }
}

/** After the script was loaded: the names of what it was given mean the same in every call. */
export function lockGlobals(): void {
  const own = ["console", "fetch", "self", "setTimeout", "setInterval", "setImmediate"];
  for (const name of [...languageGlobals(), ...kept, ...own]) {
    const found = Object.getOwnPropertyDescriptor(globalThis, name);
    if (found?.configurable !== true) continue;
    const value = (globalThis as Record<string, unknown>)[name];
    if (value !== globalThis) freezeClass(value);
    Object.defineProperty(globalThis, name, {
      value,
      enumerable: found.enumerable === true,
      writable: false,
      configurable: false,
    });
  }
}

/** What the web platform brings is not among the intrinsics that Node freezes. */
function freezeClass(value: unknown): void {
  if (typeof value !== "function" && (typeof value !== "object" || value === null)) return;
  const { prototype } = value as { readonly prototype?: unknown };
  if (typeof prototype === "object" && prototype !== null) Object.freeze(prototype);
  Object.freeze(value);
}

function languageGlobals(): string[] {
  return (
    "Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise RegExp " +
    "Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError JSON Math Intl ArrayBuffer " +
    "Uint8Array Int8Array Uint16Array Int16Array Uint32Array Int32Array Float16Array Float32Array Float64Array " +
    "Uint8ClampedArray BigUint64Array BigInt64Array DataView Map BigInt Set WeakMap WeakSet Proxy Reflect Iterator " +
    "FinalizationRegistry WeakRef SuppressedError DisposableStack AsyncDisposableStack decodeURI decodeURIComponent " +
    "encodeURI encodeURIComponent eval isFinite isNaN SharedArrayBuffer Atomics"
  ).split(" ");
}

type Callback = (...args: unknown[]) => void;
type Timer = ReturnType<typeof setTimeout>;

interface Timers {
  readonly functions: Readonly<Record<string, unknown>>;
  /** From here on timers belong to the call in which they were made. */
  startCalls(): void;
  /** Ends the timers of the call that was answered: they would run in somebody else's time. */
  endCall(): void;
}

/** `setTimeout` and `setInterval` that know whose they are. What the script itself starts goes on. */
export function openTimers(): Timers {
  const { setTimeout: later, setInterval: often } = globalThis;
  const { clearTimeout: clearLater, clearInterval: clearOften } = globalThis;
  const { setImmediate: soon, clearImmediate: clearSoon } = globalThis;
  const open = new Set<Timer | ReturnType<typeof setImmediate>>();
  let isCalling = false;
  const keep = <Made extends Timer | ReturnType<typeof setImmediate>>(timer: Made): Made => {
    if (isCalling) open.add(timer);
    return timer;
  };
  const end = (timer: unknown): void => {
    open.delete(timer as Timer);
    clearLater(timer as Timer);
    clearOften(timer as Timer);
  };
  return {
    functions: {
      setTimeout: (run: Callback, ms?: number, ...args: unknown[]) => {
        const timer: Timer = keep(
          later(() => {
            open.delete(timer);
            run(...args);
          }, ms),
        );
        return timer;
      },
      setInterval: (run: Callback, ms?: number, ...args: unknown[]) =>
        keep(often(() => run(...args), ms)),
      setImmediate: (run: Callback, ...args: unknown[]) => {
        const timer: ReturnType<typeof setImmediate> = keep(
          soon(() => {
            open.delete(timer);
            run(...args);
          }),
        );
        return timer;
      },
      clearTimeout: end,
      clearInterval: end,
      clearImmediate: (timer: unknown) => {
        open.delete(timer as Timer);
        clearSoon(timer as ReturnType<typeof setImmediate>);
      },
    },
    startCalls: () => (isCalling = true),
    endCall: () => {
      for (const timer of open) {
        clearLater(timer as Timer);
        clearSoon(timer as ReturnType<typeof setImmediate>);
      }
      open.clear();
    },
  };
}
