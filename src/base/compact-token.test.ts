// Goal: tokens in the compact form are what others read: base64url without padding, of UTF-8.
import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { makeCompactToken } from "./compact-token.ts";

test("three parts that name the algorithm, hold the claims and sign both", () => {
  const sign = (text: string): string => createHmac("sha256", "k").update(text).digest("base64url");
  const claims = { user: "Änne ~ÿ>?", exp: 1, empty: "" };
  const [head, body, signature, ...rest] = makeCompactToken("HS256", claims, sign).split(".");
  const read = (part: string | undefined): unknown =>
    JSON.parse(Buffer.from(part ?? "", "base64url").toString());
  expect(read(head)).toEqual({ alg: "HS256", typ: "JWT" });
  expect(read(body)).toEqual(claims);
  expect(body).toBe(Buffer.from(JSON.stringify(claims)).toString("base64url"));
  expect(signature).toBe(sign(`${head}.${body}`));
  expect(rest).toEqual([]);
});
