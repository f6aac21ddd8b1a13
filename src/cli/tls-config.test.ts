// Goal: what --tls says, under its own names and the reference's, and what it must not leave unsaid.
import { expect, test } from "vitest";
import { parseTls } from "./tls-config.ts";

test("without a word HTTP is plain", () => {
  expect(parseTls("")).toBeUndefined();
});

test("certificate and key are enough", () => {
  expect(parseTls("cert=a.pem; key=a.key")).toEqual({
    cert: "a.pem",
    key: "a.key",
    clientCa: undefined,
    clientAuth: "none",
    min: "TLSv1.2",
  });
});

test("the reference's names mean the same", () => {
  const text = "ca-cert=ca.pem; server-cert=a.pem; server_key=a.key; client-auth-type=REQUIREANY";
  expect(parseTls(text)).toMatchObject({
    cert: "a.pem",
    key: "a.key",
    clientCa: "ca.pem",
    clientAuth: "requireany",
  });
});

test("an authority is asked for, but for the reference's name of it, where certificates may be missing", () => {
  const pair = "cert=a.pem; key=a.key";
  expect(parseTls(`${pair}; client-ca=ca.pem`)?.clientAuth).toBe("requireandverify");
  expect(parseTls(`${pair}; ca-cert=ca.pem`)?.clientAuth).toBe("verifyifgiven");
});

test.each([
  ["cert=a.pem", "cert and key are both needed"],
  ["key=a.key; min=1.3", "cert and key are both needed"],
  ["cert=a; server-cert=b; key=c", "cert and server-cert are the same"],
  ["cert=a; key=b; min=1.1", 'min: 1.2 or 1.3, not "1.1"'],
  ["cert=a; key=b; client-auth=maybe", 'not "maybe"'],
  ["cert=a; key=b; client-auth=requireandverify", "client-ca is needed"],
  ["cert=a; key=b; internal-port=true", 'unknown key "internal-port"'],
])("%s is refused", (text, why) => {
  expect(() => parseTls(text)).toThrow(why);
});
