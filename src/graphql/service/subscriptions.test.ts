// Goal: subscribers are told each change of their answer, once, and the work for it is shared by all who may share.
import { afterEach, describe, expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { openGraphqlContext, type GraphqlContext } from "../../../test/support/graphql-context.ts";
import { signToken, testNamespace, testSecret } from "../../../test/support/tokens.ts";
import { anyPrincipal, makeStranger } from "../../model/principal.ts";
import type { Principal } from "../../model/principal.ts";
import { openGraphqlService } from "./open-service.ts";
import type { SubscribeOutcome, Subscriber } from "./service.ts";

let context: GraphqlContext;
afterEach(() => context.close());

const sdl = `
type Boat @withSubscription { id: ID!  name: String! @id  length: Float @search  port: Port }
type Port @withSubscription { code: String! @id  city: String  boats: [Boat] @hasInverse(field: port) }
type Secret { name: String! @id }`;

/** Everything that it was told, and a way to wait for more. */
class Listener implements Subscriber {
  readonly told: unknown[] = [];
  #waiting: (() => void)[] = [];

  next(answer: Uint8Array): void {
    this.#tell(JSON.parse(new TextDecoder().decode(answer)));
  }

  end(reason: string): void {
    this.#tell(reason);
  }

  async waitFor(count: number): Promise<readonly unknown[]> {
    while (this.told.length < count) await new Promise<void>((done) => this.#waiting.push(done));
    return this.told;
  }

  #tell(what: unknown): void {
    this.told.push(what);
    for (const done of this.#waiting.splice(0)) done();
  }
}

async function subscribe(
  query: string,
  headers: Readonly<Record<string, string>> = {},
  listener = new Listener(),
  variables?: unknown,
): Promise<{ listener: Listener; outcome: SubscribeOutcome }> {
  const body = JSON.stringify({ query, variables });
  const request = { kind: "json", body, headers, remoteAddress: "", timeoutMs: 0 } as const;
  const outcome = await context.service.subscribe(request, listener);
  return { listener, outcome };
}

const add = (name: string, length = 1): Promise<unknown> =>
  context.ask(`mutation { addBoat(input: [{name: "${name}", length: ${length}}]) { numUids } }`);
const names = "subscription { queryBoat(order: {asc: name}) { name } }";
const boats = (...found: string[]): unknown => ({
  data: { queryBoat: found.map((name) => ({ name })) },
});

describe("answers", () => {
  test("the first at once, then one after each change", async () => {
    context = await openGraphqlContext(sdl);
    const { listener, outcome } = await subscribe(names);
    expect(outcome.kind).toBe("open");
    expect(listener.told).toEqual([boats()]);
    await add("Alba");
    await listener.waitFor(2);
    await add("Brisa");
    await listener.waitFor(3);
    expect(listener.told).toEqual([boats(), boats("Alba"), boats("Alba", "Brisa")]);
  });

  test("who comes later has the newest answer, and what was acknowledged before it came", async () => {
    context = await openGraphqlContext(sdl);
    await subscribe(names);
    for (const name of ["a", "b", "c", "d"]) {
      await add(name);
      const { listener } = await subscribe(names);
      expect(listener.told).toHaveLength(1);
      const [answer] = listener.told as [{ data: { queryBoat: { name: string }[] } }];
      expect(answer.data.queryBoat.at(-1)?.name).toBe(name);
    }
  });

  test("of many that differ one begins in a round of the event loop", async () => {
    context = await openGraphqlContext(sdl);
    const { engine } = context;
    let tick = 0;
    // Each look at it is a slice later.
    const clock = { nowMs: () => systemClock.nowMs(), tickMs: () => (tick += 5) };
    const { scheduler } = engine;
    const service = openGraphqlService({ engine, clock, scheduler, extensions: false });
    const listeners = Array.from({ length: 20 }, () => new Listener());
    const open = async (listener: Listener, i: number): Promise<void> => {
      const body = JSON.stringify({ query: `subscription { a${i}: queryBoat { name } }` });
      const request = { kind: "json", body, headers: {}, remoteAddress: "", timeoutMs: 0 } as const;
      expect((await service.subscribe(request, listener)).kind).toBe("open");
    };
    await Promise.all(listeners.map(open));
    let most = 0;
    let isOver = false;
    let { evaluations } = service.subscriptionCounters;
    const count = (): void => {
      const before = evaluations;
      ({ evaluations } = service.subscriptionCounters);
      most = Math.max(most, evaluations - before);
      if (!isOver) setImmediate(count);
    };
    count();
    await add("Alba");
    await Promise.all(listeners.map((listener) => listener.waitFor(2)));
    isOver = true;
    expect(most).toBe(1);
  });

  test("nothing after the end of a subscription", async () => {
    context = await openGraphqlContext(sdl);
    const first = await subscribe(names);
    const second = await subscribe(names);
    if (first.outcome.kind === "open") first.outcome.close();
    await add("Alba");
    await second.listener.waitFor(2);
    expect(first.listener.told).toEqual([boats()]);
    if (second.outcome.kind === "open") second.outcome.close();
    expect(context.service.subscriptionCounters).toMatchObject({ subscriptions: 0, queries: 0 });
  });

  test("another schema ends it, dropped data do not", async () => {
    context = await openGraphqlContext(sdl);
    const { listener } = await subscribe(names);
    await add("Alba");
    await listener.waitFor(2);
    await context.engine.alter({ kind: "dropData" }, 0);
    await listener.waitFor(3);
    await add("Brisa");
    await listener.waitFor(4);
    await context.service.updateSchema(0, "type Ship @withSubscription { name: String! @id }");
    await listener.waitFor(5);
    expect(listener.told.slice(2)).toEqual([boats(), boats("Brisa"), "schema"]);
    expect(context.service.subscriptionCounters.subscriptions).toBe(0);
  });
});

describe("another schema", () => {
  const line = {
    Header: "X-A",
    Namespace: testNamespace,
    Algo: "HS256",
    VerificationKey: testSecret,
  };
  const authorization = `\n# Dgraph.Authorization ${JSON.stringify(line)}\n`;
  const headers = (claims: Record<string, unknown>): Record<string, string> => ({
    "X-A": signToken({ [testNamespace]: claims }),
    "x-a": signToken({ [testNamespace]: claims }),
  });

  test.each([
    ["the same again", sdl],
    ["comments and another type", `# words\n${sdl}\ntype Sail { id: ID! size: Int }`],
    ["another field", sdl.replace("length: Float", "crew: Int  length: Float")],
    [
      "another type's rules",
      `${sdl} type Log @auth(query: {rule: "{$ROLE: {eq: \\"x\\"}}"}) { id: ID! at: String }`,
    ],
    ["a field of its type that it does not ask for", sdl.replace("length: Float @search", "")],
    ["an index", sdl.replace("city: String", "city: String @search(by: [term])")],
  ])("leaves a subscription running: %s", async (_, text) => {
    context = await openGraphqlContext(sdl);
    const { listener } = await subscribe(names);
    await context.service.updateSchema(0, text);
    await context.ask('mutation { addBoat(input: [{name: "Alba"}]) { numUids } }');
    await listener.waitFor(2);
    expect(listener.told).toEqual([boats(), boats("Alba")]);
  });

  test.each([
    ["its type has gone", "type Ship @withSubscription { name: String! @id }"],
    [
      "its field has another type",
      sdl.replace("name: String! @id", "name: String @search(by: [exact])"),
    ],
    [
      "its field lies elsewhere",
      sdl.replace("name: String! @id", 'name: String! @id @dgraph(pred: "n")'),
    ],
    ["it may not be subscribed to", sdl.replace("Boat @withSubscription", "Boat")],
    ["other pages may listen", `${sdl}\n# Dgraph.Allow-Origin "https://one.example"\n`],
    [
      "its nodes are hidden",
      sdl.replace("Boat @", 'Boat @auth(query: {rule: "{$R: {eq: \\"x\\"}}"}) @'),
    ],
  ])("ends a subscription: %s", async (_, text) => {
    context = await openGraphqlContext(sdl);
    const { listener } = await subscribe(names);
    await context.service.updateSchema(0, text);
    await listener.waitFor(2);
    expect(listener.told).toEqual([boats(), "schema"]);
    expect(context.service.subscriptionCounters).toMatchObject({ subscriptions: 0, queries: 0 });
  });

  test("rules that change end it for whom they change", async () => {
    const rule = (roles: string): string => `type Boat @withSubscription @auth(query: {or: [
      {rule: "query($USER: String!) { queryBoat(filter: {name: {eq: $USER}}) { name } }"} ${roles}]}) {
      name: String! @id }${authorization}`;
    context = await openGraphqlContext(rule('{rule: "{$NEVER: {eq: \\"x\\"}}"}'));
    const sailor = await subscribe(names, headers({ USER: "Alba", ROLE: "sailor" }));
    const captain = await subscribe(names, headers({ USER: "Alba", ROLE: "captain" }));
    expect(context.service.subscriptionCounters).toMatchObject({ subscriptions: 2, queries: 1 });
    await context.service.updateSchema(0, rule('{rule: "{$ROLE: {eq: \\"captain\\"}}"}'));
    await captain.listener.waitFor(2);
    expect(captain.listener.told).toEqual([boats(), "schema"]);
    await context.ask('mutation { addBoat(input: [{name: "Brisa"}, {name: "Alba"}]) { numUids } }');
    await sailor.listener.waitFor(2);
    expect(sailor.listener.told).toEqual([boats(), boats("Alba")]);
  });
});

describe("what is shared", () => {
  test("equal queries run once for a commit", async () => {
    context = await openGraphqlContext(sdl);
    const all = await Promise.all(Array.from({ length: 50 }, () => subscribe(names)));
    const before = context.service.subscriptionCounters;
    expect(before).toMatchObject({ subscriptions: 50, queries: 1, evaluations: 1 });
    await add("Alba");
    for (const { listener } of all) expect(await listener.waitFor(2)).toHaveLength(2);
    expect(context.service.subscriptionCounters.evaluations).toBe(before.evaluations + 1);
  });

  test("other values are another query", async () => {
    context = await openGraphqlContext(sdl);
    const text = "subscription S($l: Float!) { queryBoat(filter: {length: {ge: $l}}) { name } }";
    await subscribe(text, {}, undefined, { l: 1 });
    await subscribe(text, {}, undefined, { l: 2 });
    await subscribe(text, {}, undefined, { l: 2 });
    expect(context.service.subscriptionCounters).toMatchObject({ subscriptions: 3, queries: 2 });
  });

  test("a commit that cannot concern a query does not run it", async () => {
    context = await openGraphqlContext(sdl);
    await add("Alba");
    const { listener } = await subscribe('subscription { getBoat(name: "Alba") { name length } }');
    const before = context.service.subscriptionCounters;
    await context.ask('mutation { addPort(input: [{code: "LIS", city: "Lisboa"}]) { numUids } }');
    await context.ask(
      'mutation { updatePort(input: {filter: {}, set: {city: "Porto"}}) { numUids } }',
    );
    await context.ask("mutation { updateBoat(input: {filter: {}, set: {length: 2}}) { numUids } }");
    await listener.waitFor(2);
    const after = context.service.subscriptionCounters;
    expect(after.skips).toBeGreaterThan(before.skips);
    // The new node has a type, which the query reads; the new city does not concern it.
    expect(after.evaluations - before.evaluations).toBeLessThanOrEqual(2);
    expect(listener.told).toHaveLength(2);
  });

  test("commits that come while a query runs are looked at together", async () => {
    context = await openGraphqlContext(sdl);
    const { listener } = await subscribe("subscription { aggregateBoat { count } }");
    await Promise.all(Array.from({ length: 40 }, (_, i) => add(`boat ${i}`)));
    for (;;) {
      const last = listener.told.at(-1) as { data: { aggregateBoat: { count: number } } };
      if (last.data.aggregateBoat.count === 40) break;
      await listener.waitFor(listener.told.length + 1);
    }
    expect(context.service.subscriptionCounters.evaluations).toBeLessThanOrEqual(41);
  });
});

describe("rights", () => {
  const line = {
    Header: "X-Auth",
    Namespace: testNamespace,
    Algo: "HS256",
    VerificationKey: testSecret,
  };
  const guarded = `type Log @withSubscription @auth(query: {rule: "query($USER: String!) { queryLog(filter: {keeper: {eq: $USER}}) { id } }"}) {
    id: ID!  text: String  keeper: String @search(by: [hash]) }
  # Dgraph.Authorization ${JSON.stringify(line)}\n`;
  const text = "subscription { queryLog { text } }";
  const claims = (user: string, exp?: number): object => ({
    [testNamespace]: { USER: user },
    ...(exp === undefined ? {} : { exp }),
  });
  const note = (keeper: string, what: string): Promise<unknown> =>
    context.send(
      JSON.stringify({
        query: `mutation { addLog(input: [{text: "${what}", keeper: "${keeper}"}]) { numUids } }`,
      }),
    );
  const logs = (...texts: string[]): unknown => ({
    data: { queryLog: texts.map((one) => ({ text: one })) },
  });

  test("only equal rights share a run, and nobody is told of what he may not see", async () => {
    context = await openGraphqlContext(guarded);
    const ana = await subscribe(text, { "x-auth": signToken(claims("ana")) });
    const anaToo = await subscribe(text, { "x-auth": signToken(claims("ana", 4_000_000_000)) });
    const bob = await subscribe(text, { "x-auth": signToken(claims("bob")) });
    const nobody = await subscribe(text);
    expect(context.service.subscriptionCounters).toMatchObject({ subscriptions: 4, queries: 3 });
    await note("ana", "fog");
    await ana.listener.waitFor(2);
    await note("bob", "gale");
    await bob.listener.waitFor(2);
    expect(ana.listener.told).toEqual([logs(), logs("fog")]);
    expect(anaToo.listener.told).toEqual([logs(), logs("fog")]);
    expect(bob.listener.told).toEqual([logs(), logs("gale")]);
    expect(nobody.listener.told).toEqual([logs()]);
  });

  test("a token that ends takes the subscription with it", async () => {
    context = await openGraphqlContext(guarded);
    const exp = Math.floor(Date.now() / 1000) + 2;
    const ana = await subscribe(text, { "x-auth": signToken(claims("ana", exp)) });
    const bob = await subscribe(text, { "x-auth": signToken(claims("bob")) });
    expect(await ana.listener.waitFor(2)).toEqual([logs(), "expired"]);
    await note("bob", "gale");
    await bob.listener.waitFor(2);
    expect(ana.listener.told).toHaveLength(2);
  });

  test("a token that is not believed is refused", async () => {
    context = await openGraphqlContext(guarded);
    const { outcome } = await subscribe(text, { "x-auth": "nonsense" });
    expect(outcome).toMatchObject({
      kind: "refused",
      message:
        "unable to parse jwt token:token is malformed: token contains an invalid number of segments",
    });
  });
});

describe("queries and mutations", () => {
  const ask = async (query: string, answersAll: boolean): Promise<SubscribeOutcome> => {
    const body = JSON.stringify({ query });
    const request = { kind: "json", body, headers: {}, remoteAddress: "", timeoutMs: 0 } as const;
    return context.service.subscribe(request, new Listener(), answersAll);
  };
  const told = (outcome: SubscribeOutcome): unknown =>
    outcome.kind === "answered"
      ? JSON.parse(new TextDecoder().decode(outcome.answer.body))
      : outcome.kind;

  test("are answered where all is asked for", async () => {
    context = await openGraphqlContext(sdl);
    const mutation = 'mutation { addBoat(input: [{name: "Alba"}]) { numUids } }';
    expect(told(await ask(mutation, true))).toEqual({ data: { addBoat: { numUids: 1 } } });
    expect(told(await ask("{ queryBoat { name } }", true))).toEqual(boats("Alba"));
  });

  test("are not run where only a subscription is", async () => {
    context = await openGraphqlContext(sdl);
    const mutation = 'mutation { addBoat(input: [{name: "Alba"}]) { numUids } }';
    expect(told(await ask(mutation, false))).toBe("other");
    expect(await context.ask("{ queryBoat { name } }")).toEqual(boats());
  });
});

describe("access", () => {
  const eyes = (key: string, hidden: string): Principal => ({
    namespace: 0,
    user: key,
    isGuardian: false,
    access: {
      key,
      mayRead: (predicate) => predicate !== hidden,
      mayWrite: () => false,
      mayModify: () => false,
    },
    expiryMs: Infinity,
  });
  const open = async (who: string): Promise<Listener> => {
    const { listener } = await subscribe("subscription { queryBoat { name length } }", { who });
    return listener;
  };

  test("only equal access shares a run, and a run reads with it", async () => {
    const people: Record<string, Principal> = {
      all: eyes("all", ""),
      few: eyes("few", "Boat.length"),
    };
    context = await openGraphqlContext(sdl, ({ who }) => people[String(who)] ?? anyPrincipal);
    await add("Alba", 7);
    const all = await open("all");
    await open("all");
    const few = await open("few");
    expect(context.service.subscriptionCounters).toMatchObject({ subscriptions: 3, queries: 2 });
    expect(all.told).toEqual([{ data: { queryBoat: [{ name: "Alba", length: 7 }] } }]);
    expect(few.told).toEqual([{ data: { queryBoat: [{ name: "Alba", length: null }] } }]);
  });

  test("who is not believed is told nothing", async () => {
    context = await openGraphqlContext(sdl, () => makeStranger("no accessJwt available"));
    const { outcome } = await subscribe(names);
    expect(outcome).toMatchObject({
      kind: "refused",
      message:
        "Dgraph query failed because Dgraph execution failed because rpc error: code = Unauthenticated desc = no accessJwt available",
    });
  });
});

describe("refusals, in the words of the reference's WebSocket", () => {
  test.each([
    [
      "subscription { querySecret { name } }",
      'input:1: Cannot query field "querySecret" on type "Subscription". Did you mean "queryPort" or "queryBoat"?\n',
    ],
    [
      "subscription { queryBoat { colour } }",
      'input:1: Cannot query field "colour" on type "Boat".\n',
    ],
    ["subscription { queryBoat { name }", "input:1: Expected Name, found <EOF>"],
    ["", "no query string supplied in request"],
    [
      "subscription { queryBoat { name } queryPort { code } }",
      "input:1: Anonymous Subscription must select only one top level field.\n",
    ],
    [
      "subscription S($n: String!) { getBoat(name: $n) { name } }",
      "input: variable.n must be defined",
    ],
  ])("%s", async (query, message) => {
    context = await openGraphqlContext(sdl);
    const { outcome } = await subscribe(query);
    expect(outcome).toMatchObject({ kind: "refused", message });
    expect(context.service.subscriptionCounters).toMatchObject({ subscriptions: 0, queries: 0 });
  });

  test("a query is none", async () => {
    context = await openGraphqlContext(sdl);
    expect((await subscribe("{ queryBoat { name } }")).outcome).toEqual({ kind: "other" });
  });

  test("without a schema", async () => {
    context = await openGraphqlContext();
    const { outcome } = await subscribe(names);
    expect(outcome).toMatchObject({
      kind: "refused",
      message: expect.stringContaining("There's no GraphQL schema") as string,
    });
  });
});
