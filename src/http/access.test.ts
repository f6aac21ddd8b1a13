import type { IncomingMessage } from "node:http";
import { BlockList } from "node:net";
import { describe, expect, test } from "vitest";
import {
  addToWhitelist,
  findRefusal,
  makeAdminFault,
  makeAlterFault,
  type Security,
} from "./access.ts";

function secured(parts: Partial<Security> & { allowed?: string[] } = {}): Security {
  const whitelist = new BlockList();
  for (const entry of parts.allowed ?? []) expect(addToWhitelist(whitelist, entry)).toBe(true);
  return {
    token: parts.token,
    whitelist,
    hosts: parts.hosts ?? new Set(),
    origins: parts.origins ?? new Set(),
  };
}

const ask = (
  headers: Record<string, string>,
  security: Security = secured(),
  address = "127.0.0.1",
): string =>
  findRefusal(
    { headers: { host: "127.0.0.1:8080", ...headers } } as unknown as IncomingMessage,
    address,
    security,
  )?.kind ?? "admitted";

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
  ])("%j", (headers, outcome) => expect(ask(headers)).toBe(outcome));

  test("configured names and origins are no strangers", () => {
    const security = secured({
      hosts: new Set(["db.example"]),
      origins: new Set(["https://ops.example"]),
    });
    expect(ask({ host: "db.example:8080" }, security)).toBe("admitted");
    expect(ask({ origin: "https://ops.example" }, security)).toBe("admitted");
  });

  test("a valid token opens every door", () => {
    const security = secured({ token: "secret" });
    expect(ask({ origin: "https://x.example", "x-dgraph-authtoken": "secret" }, security)).toBe(
      "admitted",
    );
    expect(ask({ origin: "https://x.example", "x-dgraph-authtoken": "no" }, security)).toBe("page");
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

test("the words of a refusal are the reference's", () => {
  expect(makeAlterFault({ kind: "noToken" }).message).toBe(
    "No Auth Token found. Token needed for Admin operations.",
  );
  expect(makeAlterFault({ kind: "wrongToken", token: "x" }).message).toBe(
    "Provided auth token [x] does not match. Permission denied.",
  );
  expect(makeAdminFault({ kind: "noToken" }).message).toBe("Invalid X-Dgraph-AuthToken");
  expect(makeAlterFault({ kind: "address", address: "8.8.8.8" }).message).toBe(
    "unauthorized ip address: 8.8.8.8",
  );
});
