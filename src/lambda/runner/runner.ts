/**
 * What runs in a resolver's process, beside the user's script: it puts the functions of reference/graphql 7.5 in place,
 * turns calls into events (reference/graphql 7.4) and results into answers. It is compiled into one text and handed
 * over by message: the process itself may read no file.
 */
import type { ShownErrors } from "../limits.ts";
import type { FromResolver, ToResolver } from "../messages.ts";
import type { PartialAnswer } from "../wire.ts";
import { Asker } from "./asker.ts";
import { dispatch, noResolver, registrations, registeredNames } from "./events.ts";
import type { CallBody } from "./events.ts";
import { openConsole } from "./console.ts";
import { describe, describeShort, Failed, showError } from "./failures.ts";
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
export function startRunner(ports: Ports, load: Load): void {
  const { script, name, bodyBytesMax, shows, tracesConsole } = load;
  const tell = (message: string): void =>
    ports.send({ kind: "fault", message: message.slice(0, messageCharactersMax) });
  const asker = new Asker((ask, call) => ports.send({ kind: "ask", ask, call }), bodyBytesMax);
  const timers = openTimers();
  closeGlobals();
  Object.assign(globalThis, {
    self: globalThis,
    console: openConsole(ports, tracesConsole ? name : undefined),
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
        void answer({ asker, tell, shows }, readCall(message)).then((given) => {
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

function readCall({ body, isPartial }: Extract<ToResolver, { kind: "call" }>): Call {
  return { body: JSON.parse(body) as CallBody, isPartial };
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
  readonly shows: ShownErrors;
}

interface Call {
  readonly body: CallBody;
  /** The caller takes the failures of single parents. */
  readonly isPartial: boolean;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

const refused: Answer = { status: 400, body: "" };
const failed: Answer = { status: 500, body: "Internal Server Error" };
/** Failures of one call that are told one by one. */
const failuresMax = 100;

/** A throw is 400, a rejection 500; the trace is for the operator. */
async function answer(tools: Tools, call: Call): Promise<Answer> {
  const { body } = call;
  const name = body.resolver ?? "";
  const given = await settle(tools, body);
  if (name === "$webhook") {
    if (given instanceof Failed) tools.tell(`${name}: ${describe(given.error)}`);
    return { status: 200, body: "" };
  }
  if (given === noResolver) return explained(tools.tell, `there is no resolver "${name}"`);
  if (given instanceof Failed) {
    tools.tell(`${name}: ${describe(given.error)}`);
    return failure(given, tools.shows);
  }
  return print(tools, call, given);
}

async function settle({ asker }: Tools, body: CallBody): Promise<unknown> {
  let isPending = false;
  try {
    const given = dispatch(asker, body);
    if (!(given instanceof Promise)) return given;
    isPending = true;
    return await (given as Promise<unknown>);
  } catch (error) {
    return new Failed(error, isPending);
  }
}

function failure({ error, isRejected }: Failed, shows: ShownErrors): Answer {
  const plain = isRejected ? failed : refused;
  const shown = showError(error, shows);
  if (shown.message === undefined) return plain;
  return { status: plain.status, body: JSON.stringify({ errors: [shown] }) };
}

/** One element for each parent, nothing as null; of a query or mutation the value itself. */
function print(tools: Tools, { body, isPartial }: Call, value: unknown): Answer {
  const { tell } = tools;
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
    const failures = listFailures(value);
    const [first] = failures;
    if (first !== undefined) {
      const others = failures.length === 1 ? "" : ` (and for ${failures.length - 1} more parents)`;
      tell(`${name}${others}: ${describe(first.failed.error)}`);
      if (!isPartial) return failure(first.failed, tools.shows);
      result = partial(value, failures, tools.shows);
    } else result = value.map((element: unknown) => element ?? null);
  }
  try {
    const text = JSON.stringify(result) as string | undefined;
    if (text !== undefined) return { status: 200, body: text };
    return explained(tell, `${name} returned nothing: null says that there is none.`);
  } catch (error) {
    return explained(tell, `${name} returned something that is no JSON: ${describeShort(error)}`);
  }
}

interface ParentFailure {
  readonly index: number;
  readonly failed: Failed;
}

/** A resolver of all parents may return an error in the place of one. */
function listFailures(list: readonly unknown[]): ParentFailure[] {
  return list.flatMap((element, index) => {
    if (element instanceof Failed) return [{ index, failed: element }];
    return isError(element) ? [{ index, failed: new Failed(element, false) }] : [];
  });
}

function isError(value: unknown): boolean {
  try {
    return value instanceof Error;
  } catch {
    return false;
  }
}

function partial(
  list: readonly unknown[],
  failures: readonly ParentFailure[],
  shows: ShownErrors,
): PartialAnswer {
  const failing = new Set(failures.map(({ index }) => index));
  const told = failures.slice(0, failuresMax);
  return {
    data: list.map((element, i) => (failing.has(i) ? null : (element ?? null))),
    errors: told.map(({ index, failed: { error, isRejected } }) => ({
      index,
      status: (isRejected ? failed : refused).status,
      ...showError(error, shows),
    })),
    more: failures.length - told.length,
  };
}

function explained(tell: Tell, message: string): Answer {
  tell(message);
  return { status: 400, body: JSON.stringify({ errors: [{ message }] }) };
}
