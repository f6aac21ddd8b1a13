/**
 * What runs in a resolver's process, beside the user's script: it puts the functions of reference/graphql 7.5 in place,
 * turns calls into events (reference/graphql 7.4) and results into answers. It is compiled into one text and handed
 * over by message: the process itself may read no file.
 */
import type { FromResolver, ToResolver } from "../messages.ts";
import { Asker } from "./asker.ts";
import { dispatch, registrations, registeredNames } from "./events.ts";
import type { CallBody } from "./events.ts";
import { openConsole } from "./console.ts";
import { closeGlobals, lockGlobals, openTimers } from "./globals.ts";

/** What the first line of the process hands over before it is gone. */
interface Ports {
  send(message: FromResolver): void;
  listen(handler: (message: ToResolver) => void): void;
  evaluate(script: string, name: string): void;
  /** As `console.log` prints values. */
  format(values: readonly unknown[]): string;
  /** Milliseconds on a scale of the process's own. */
  nowMs(): number;
}

/** What the process is to run. */
type Load = Extract<ToResolver, { kind: "load" }>;

/** Loads the script, says so, and answers calls from then on. */
export function startRunner(ports: Ports, { script, name, bodyBytesMax }: Load): void {
  const tell = (message: string): void =>
    ports.send({ kind: "fault", message: message.slice(0, messageCharactersMax) });
  const asker = new Asker((ask, call) => ports.send({ kind: "ask", ask, call }), bodyBytesMax);
  const timers = openTimers();
  closeGlobals();
  Object.assign(globalThis, {
    self: globalThis,
    console: openConsole(ports),
    fetch: asker.fetch.bind(asker),
    ...timers.functions,
    ...registrations,
  });
  ports.listen((message) => {
    switch (message.kind) {
      case "load":
        return;
      case "call":
        ports.send({ kind: "begun", id: message.id });
        forgetMatch();
        void answer({ asker, tell }, message.body).then((given) => {
          timers.endCall();
          forgetMatch();
          const { status, body } = limitAnswer(given, bodyBytesMax, tell);
          ports.send({ kind: "done", id: message.id, status, body });
        });
        return;
      case "told":
        asker.told(message.ask, message.answer);
        return;
      case "ping":
        ports.send({ kind: "pong" });
    }
  });
  try {
    ports.evaluate(script, name);
  } catch (error) {
    ports.send({ kind: "broken", message: describe(error) });
    return;
  }
  lockGlobals();
  timers.startCalls();
  ports.send({ kind: "ready", names: registeredNames() });
}

/** What `RegExp.$1` and its like tell of the last match would be met by the next call. */
function forgetMatch(): void {
  void /^$/.test("");
}

/** Traces and names that a script makes as long as it likes. */
const messageCharactersMax = 16_000;

/** A larger answer would be held by the server, for every caller at once. */
function limitAnswer(done: Answer, bytesMax: number, tell: Tell): Answer {
  if (done.body.length <= bytesMax) return done;
  return explained(tell, `the answer is larger than ${bytesMax} bytes (--lambda-limit body-bytes)`);
}

/** Tells the operator. */
type Tell = (message: string) => void;

interface Tools {
  readonly asker: Asker;
  readonly tell: Tell;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

const refused: Answer = { status: 400, body: "" };
const failed: Answer = { status: 500, body: "Internal Server Error" };

/** A throw is 400, a rejection 500: what a client is told of it is the status alone, the trace is for the operator. */
async function answer({ asker, tell }: Tools, text: string): Promise<Answer> {
  const body = JSON.parse(text) as CallBody;
  let pending: unknown;
  try {
    pending = dispatch(asker, body, tell);
  } catch (error) {
    tell(`${body.resolver ?? ""}: ${describe(error)}`);
    return refused;
  }
  if (body.resolver === "$webhook") {
    await settle(body, pending, tell);
    return { status: 200, body: "" };
  }
  const settled =
    pending instanceof Promise ? await settle(body, pending, tell) : { value: pending };
  if (settled === undefined) return failed;
  return print(body, settled.value, tell);
}

async function settle(
  body: CallBody,
  pending: unknown,
  tell: Tell,
): Promise<{ value: unknown } | undefined> {
  try {
    return { value: await pending };
  } catch (error) {
    tell(`${body.resolver ?? ""}: ${describe(error)}`);
    return undefined;
  }
}

/** One element for each parent, nothing as null; of a query or mutation the value itself. */
function print(body: CallBody, value: unknown, tell: Tell): Answer {
  const name = body.resolver ?? "";
  let result = value;
  if (Array.isArray(body.parents) && value !== undefined) {
    const count = body.parents.length;
    if (!Array.isArray(value)) {
      tell(`${name} must return a list, one element for each of its ${count} parents`);
      return refused;
    }
    if (value.length !== count)
      return explained(tell, `${name} returned ${value.length} elements for ${count} parents.`);
    result = value.map((element: unknown) => element ?? null);
  }
  try {
    const text = JSON.stringify(result) as string | undefined;
    return text === undefined ? refused : { status: 200, body: text };
  } catch (error) {
    return explained(tell, `${name} returned something that is no JSON: ${describeShort(error)}`);
  }
}

function explained(tell: Tell, message: string): Answer {
  tell(message);
  return { status: 400, body: JSON.stringify({ errors: [{ message }] }) };
}

/** With its trace, as far as it is the script's own. What is thrown may be anything, also what throws when it is looked at. */
function describe(error: unknown): string {
  try {
    return describeTrace(error);
  } catch {
    return unreadable;
  }
}

const unreadable = "what was thrown cannot be read";

/** An error as a script may have made it. */
interface Thrown {
  readonly stack?: unknown;
  readonly message: unknown;
}

function describeTrace(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { stack, message }: Thrown = error;
  const lines = String(stack ?? message).split("\n");
  return lines.filter((line) => !/^ +at .*(?:weft:runner|node:internal)/.test(line)).join("\n");
}

function describeShort(error: unknown): string {
  try {
    const { message }: Thrown = error instanceof Error ? error : { message: error };
    return String(message);
  } catch {
    return unreadable;
  }
}
