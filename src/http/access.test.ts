import { BlockList } from "node:net";
import { describe, expect, test } from "vitest";
import { type AccessKey, type KeyKind, type KeyScope, scopesOfKind } from "../auth/access-key.ts";
import type { Verdict } from "../auth/key-ring.ts";
import { anyPrincipal, makeStranger } from "../model/principal.ts";
import { addToWhitelist, findAccessRefusal, type Security } from "./access.ts";
import { makeRefusalFault, makeRefusalReply } from "./refusal.ts";
import type { RouteRight } from "./rights.ts";
import { type Audience, rightOf } from "./rights.ts";

function secured(parts: Partial<Security> & { allowed?: string[] } = {}): Security {
  const whitelist = new BlockList();
  for (const entry of parts.allowed ?? []) expect(addToWhitelist(whitelist, entry)).toBe(true);
  return {
    anonymous: parts.anonymous ?? true,
    token: parts.token,
    whitelist,
    hosts: parts.hosts ?? new Set(),
    origins: parts.origins ?? new Set(),
  };
}

function keyOf(kind: KeyKind, scopes = scopesOfKind(kind), namespace?: number): AccessKey {
  return { id: "x", name: kind, kind, scopes, namespace, createdMs: 0, expiryMs: Infinity };
}

const scoped = (scope: KeyScope, namespace?: number) => keyOf("scoped", [scope], namespace);

const verdicts: Readonly<Record<string, Verdict>> = {
  "the admin key": keyOf("admin"),
  "the client key": keyOf("client"),
  "an old key": "expired",
  graphql: scoped("graphql"),
  query: scoped("query"),
  mutate: scoped("mutate"),
  alter: scoped("alter"),
  admin: scoped("admin"),
  "query of 7": scoped("query", 7),
  "query of 0": scoped("query", 0),
};

/** Rights as the table has them, for each audience. */
const rights: Readonly<Record<Audience, RouteRight>> = {
  everyone: rightOf("/health"),
  clients: rightOf("/query"),
  logins: rightOf("/login"),
  administrators: rightOf("/admin"),
};

interface Question {
  readonly audience?: Audience;
  readonly security?: Security;
  readonly address?: string;
  readonly route?: string;
  /** The namespace of whoever has logged in; "none": nobody has. Undefined: nobody logs in. */
  readonly login?: number | "none";
  readonly named?: readonly string[];
}

function judgeHeaders(headers: Record<string, string>, question: Question): string {
  const { route, login } = question;
  const right =
    route === undefined ? rights[question.audience ?? "administrators"] : rightOf(route);
  const principal =
    login === "none" ? makeStranger("no") : { ...anyPrincipal, namespace: login ?? 0 };
  const refusal = findAccessRefusal(right, {
    headers: { host: "127.0.0.1:8080", ...headers },
    remoteAddress: question.address ?? "127.0.0.1",
    security: question.security ?? secured(),
    keys: { judge: (text) => verdicts[text] ?? "unknown" },
    acl: login === undefined ? undefined : { identify: () => principal },
    graphql: { allowedOrigins: () => question.named ?? [] },
  });
  if (refusal instanceof Promise) throw new Error("there is nothing to wait for");
  return refusal?.kind ?? "admitted";
}

const ask = (
  headers: Record<string, string>,
  security: Security = secured(),
  address = "127.0.0.1",
): string => judgeHeaders(headers, { security, address });

describe("a page of another site", () => {
  test.each([
    [{}, "admitted"],
    [{ host: "localhost:8080" }, "admitted"],
    [{ host: "[::1]:8080" }, "admitted"],
    [{ host: "evil.example:8080" }, "page"],
    [{ host: "127.0.0.1.evil.example" }, "page"],
    [{ origin: "http://127.0.0.1:8080" }, "admitted"],
    [{ origin: "http://127.0.0.1:3000" }, "page"],
    [{ origin: "https://evil.example" }, "page"],
    [{ origin: "null" }, "page"],
    [{ "sec-fetch-site": "cross-site" }, "page"],
    [{ "sec-fetch-site": "same-site" }, "page"],
    [{ "sec-fetch-site": "same-origin" }, "admitted"],
    [{ "sec-fetch-site": "none" }, "admitted"],
  ])("%j", (headers, outcome) => expect(ask(headers)).toBe(outcome));

  test("configured names and origins are no strangers", () => {
    const security = secured({
      hosts: new Set(["db.example"]),
      origins: new Set(["https://ops.example"]),
    });
    expect(ask({ host: "db.example:8080" }, security)).toBe("admitted");
    expect(ask({ origin: "https://ops.example" }, security)).toBe("admitted");
  });

  test("a valid token opens every route", () => {
    const security = secured({ token: "secret" });
    expect(ask({ origin: "https://x.example", "x-dgraph-authtoken": "secret" }, security)).toBe(
      "admitted",
    );
    expect(ask({ origin: "https://x.example", "x-dgraph-authtoken": "no" }, security)).toBe("page");
  });
});

describe("data, where nothing is asked for", () => {
  const evil = { origin: "https://evil.example" };
  const rows: readonly [string, Record<string, string>, string][] = [
    ["/query", evil, "admitted"],
    ["/graphql", evil, "admitted"],
    ["/mutate", {}, "admitted"],
    ["/mutate", evil, "page"],
    ["/commit", evil, "page"],
    ["/mutate", { origin: "null" }, "page"],
    ["/mutate", { origin: "http://localhost:3000" }, "admitted"],
    ["/mutate", { origin: "http://app.localhost" }, "admitted"],
    ["/mutate", { origin: "https://127.0.0.1:5173" }, "admitted"],
    ["/mutate", { origin: "http://[::1]:5173" }, "admitted"],
    ["/mutate", { origin: "http://localhost.evil.example" }, "page"],
    ["/mutate", { origin: "http://localhost:3000@evil.example" }, "page"],
    ["/mutate", { origin: "http://named.example" }, "admitted"],
    ["/mutate", { "sec-fetch-site": "cross-site" }, "page"],
    ["/mutate", { ...evil, "x-auth-token": "mutate" }, "admitted"],
    ["/query", { host: "evil.example" }, "page"],
    ["/graphql", { host: "evil.example:8080" }, "page"],
    ["/query", { host: "" }, "admitted"],
  ];
  test.each(rows)("%s with %j", (route, headers, outcome) => {
    expect(judgeHeaders(headers, { route, named: ["http://named.example"] })).toBe(outcome);
  });

  test("a name that nobody knows is no matter from elsewhere, nor where users log in", () => {
    const headers = { host: "db.example" };
    expect(judgeHeaders(headers, { route: "/query", address: "10.1.2.3" })).toBe("admitted");
    expect(judgeHeaders(headers, { route: "/query", login: "none" })).toBe("admitted");
    expect(judgeHeaders(evil, { route: "/mutate", login: 0 })).toBe("admitted");
  });

  test("whoever shows the administration token is no forged page", () => {
    const security = secured({ token: "secret" });
    const headers = { ...evil, "x-dgraph-authtoken": "secret" };
    expect(judgeHeaders(headers, { route: "/mutate", security })).toBe("admitted");
    expect(judgeHeaders(evil, { route: "/mutate", security })).toBe("page");
  });
});

describe("scopes of keys", () => {
  const routes = ["/graphql", "/query", "/mutate", "/commit", "/alter", "/admin", "/assign"];
  const opens: Readonly<Record<string, readonly string[]>> = {
    graphql: ["/graphql"],
    query: ["/query", "/commit"],
    mutate: ["/mutate", "/commit"],
    alter: ["/alter"],
    admin: ["/admin", "/assign"],
    "the client key": ["/graphql", "/query", "/mutate", "/commit"],
    "the admin key": routes,
  };
  test.each(Object.entries(opens))("%s", (key, opened) => {
    for (const security of [secured(), secured({ anonymous: false })]) {
      const admitted = routes.filter(
        (route) => judgeHeaders({ "x-auth-token": key }, { route, security }) === "admitted",
      );
      expect(admitted).toEqual(opened);
    }
  });

  const bound: readonly [string, number | "none" | undefined, string][] = [
    ["query of 7", undefined, "namespace"],
    ["query of 7", "none", "namespace"],
    ["query of 7", 0, "namespace"],
    ["query of 7", 7, "admitted"],
    ["query of 0", undefined, "admitted"],
    ["query of 0", "none", "namespace"],
    ["query of 0", 7, "namespace"],
    ["query", 7, "admitted"],
  ];
  test.each(bound)("%s, of one who logged in at %s", (key, login, outcome) => {
    const question = login === undefined ? {} : { login };
    const headers = { "x-auth-token": key };
    expect(judgeHeaders(headers, { route: "/query", ...question })).toBe(outcome);
    expect(judgeHeaders(headers, { route: "/login", ...question })).toBe("admitted");
  });
});

describe("addresses", () => {
  const security = secured({
    allowed: ["10.1.0.0/16", "192.168.0.1:192.168.0.9", "172.16.0.5", "fd00::/8"],
  });
  test.each([
    ["127.0.0.1", "admitted"],
    ["::1", "admitted"],
    ["::ffff:127.0.0.1", "admitted"],
    ["10.1.200.3", "admitted"],
    ["::ffff:10.1.200.3", "admitted"],
    ["10.2.0.1", "address"],
    ["192.168.0.9", "admitted"],
    ["192.168.0.10", "address"],
    ["172.16.0.5", "admitted"],
    ["fd00::7", "admitted"],
    ["8.8.8.8", "address"],
  ])("%s", (address, outcome) => expect(ask({}, security, address)).toBe(outcome));

  test.each(["", "x", "10.0.0.0/33", "1.2.3.4:5", "1.2.3.4/"])("%j is no entry", (entry) =>
    expect(addToWhitelist(new BlockList(), entry)).toBe(false),
  );
});

describe("keys", () => {
  const open = secured();
  const shut = secured({ anonymous: false });
  const key = { none: undefined, wrong: "x", expired: "an old key" };
  const rows: readonly [string | undefined, Audience, Security, string][] = [
    [key.none, "everyone", shut, "admitted"],
    [key.wrong, "everyone", shut, "admitted"],
    [key.none, "clients", open, "admitted"],
    [key.none, "clients", shut, "noKey"],
    ["", "clients", shut, "noKey"],
    [key.wrong, "clients", open, "wrongKey"],
    [key.wrong, "clients", shut, "wrongKey"],
    [key.expired, "clients", open, "expiredKey"],
    [key.expired, "clients", shut, "expiredKey"],
    ["the client key", "clients", open, "admitted"],
    ["the client key", "clients", shut, "admitted"],
    ["the admin key", "clients", shut, "admitted"],
    [key.none, "logins", shut, "noKey"],
    ["the client key", "logins", shut, "admitted"],
    [key.none, "administrators", open, "admitted"],
    [key.none, "administrators", shut, "noKey"],
    [key.wrong, "administrators", open, "wrongKey"],
    [key.expired, "administrators", shut, "expiredKey"],
    ["the client key", "administrators", open, "clientKey"],
    ["the client key", "administrators", shut, "clientKey"],
    ["the admin key", "administrators", open, "admitted"],
    ["the admin key", "administrators", shut, "admitted"],
  ];
  test.each(rows)("%j at a route for %s", (text, audience, security, outcome) => {
    const headers = text === undefined ? {} : { "x-auth-token": text };
    expect(judgeHeaders(headers, { audience, security })).toBe(outcome);
  });

  test("an Admin key is better proof than address and page, and no token", () => {
    const headers = { "x-auth-token": "the admin key", origin: "https://x.example" };
    expect(ask(headers, shut, "8.8.8.8")).toBe("admitted");
    const withToken = secured({ token: "secret" });
    expect(ask(headers, withToken)).toBe("noToken");
    expect(ask({ ...headers, "x-dgraph-authtoken": "no" }, withToken)).toBe("wrongToken");
    expect(ask({ ...headers, "x-dgraph-authtoken": "secret" }, withToken, "8.8.8.8")).toBe(
      "admitted",
    );
  });

  test("a token is no key", () => {
    const withToken = secured({ token: "secret", anonymous: false });
    expect(ask({ "x-dgraph-authtoken": "secret" }, withToken)).toBe("noKey");
    expect(ask({ "x-auth-token": "secret" }, withToken)).toBe("wrongKey");
  });
});

describe("the words of a refusal", () => {
  const messageOf = (...parts: Parameters<typeof makeRefusalFault>): string =>
    makeRefusalFault(...parts).message;

  test("are the reference's for tokens and addresses", () => {
    expect(messageOf({ kind: "noToken" }, "alter")).toBe(
      "No Auth Token found. Token needed for Admin operations.",
    );
    expect(messageOf({ kind: "wrongToken", token: "x" }, "alter")).toBe(
      "Provided auth token [x] does not match. Permission denied.",
    );
    expect(messageOf({ kind: "noToken" }, "graphql")).toBe("Invalid X-Dgraph-AuthToken");
    expect(messageOf({ kind: "address", address: "8.8.8.8" }, "alter")).toBe(
      "unauthorized ip address: 8.8.8.8",
    );
  });

  test("stand in the envelope of the route", () => {
    expect(makeRefusalReply({ kind: "wrongKey" }, "native")).toEqual({
      status: 401,
      body: '{"errors":[{"message":"The key in X-Auth-Token is not valid.","extensions":{"code":"ErrorUnauthorized"}}]}',
      headers: [],
    });
    expect(makeRefusalReply({ kind: "wrongKey" }, "graphql").status).toBe(200);
    expect(makeRefusalReply({ kind: "noToken" }, "login").body).toContain('"data":null');
  });
});
