/** `--tls "cert=FILE; key=FILE; client-ca=FILE; client-auth=…; min=1.2"`: what is said, before any file is read. */
import type { ClientAuth } from "../http/tls.ts";
import { Fault } from "../model/fault.ts";
import { parseSuperflag } from "./superflag.ts";

export interface TlsConfig {
  /** Files, in PEM. */
  readonly cert: string;
  readonly key: string;
  readonly clientCa: string | undefined;
  readonly clientAuth: ClientAuth;
  readonly min: "TLSv1.2" | "TLSv1.3";
}

const keys = [
  "cert",
  "key",
  "client-ca",
  "client-auth",
  "min",
  // The reference's names of the same.
  "server-cert",
  "server-key",
  "ca-cert",
  "client-auth-type",
] as const;

const clientAuths: readonly ClientAuth[] = [
  "none",
  "request",
  "requireany",
  "verifyifgiven",
  "requireandverify",
];

const versions = { "1.2": "TLSv1.2", "1.3": "TLSv1.3" } as const;

/** Undefined: nothing is said, and HTTP is plain. */
export function parseTls(text: string): TlsConfig | undefined {
  const given = parseSuperflag("tls", text, keys);
  if (given.size === 0) return undefined;
  const one = (own: (typeof keys)[number], theirs: (typeof keys)[number]): string | undefined => {
    if (given.has(own) && given.has(theirs)) {
      throw new Fault("E_USAGE", `--tls: ${own} and ${theirs} are the same: give one`);
    }
    const value = given.get(own) ?? given.get(theirs) ?? "";
    return value === "" ? undefined : value;
  };
  const cert = one("cert", "server-cert");
  const key = one("key", "server-key");
  if (cert === undefined || key === undefined) {
    throw new Fault("E_USAGE", "--tls: cert and key are both needed, as files in PEM");
  }
  const clientCa = one("client-ca", "ca-cert");
  return {
    cert,
    key,
    clientCa,
    clientAuth: readClientAuth(one("client-auth", "client-auth-type"), clientCa, given),
    min: readVersion(given.get("min") ?? "1.2"),
  };
}

/**
 * An authority under its own name is there to be asked for; under the reference's name it means what it does there,
 * where clients may come without a certificate.
 */
function readClientAuth(
  text: string | undefined,
  clientCa: string | undefined,
  given: ReadonlyMap<string, string>,
): ClientAuth {
  const otherwise = given.has("ca-cert") ? "verifyifgiven" : "requireandverify";
  const word = text?.toLowerCase() ?? (clientCa === undefined ? "none" : otherwise);
  const found = clientAuths.find((one) => one === word);
  if (found === undefined) {
    throw new Fault(
      "E_USAGE",
      `--tls client-auth: one of ${clientAuths.join(", ")}, not "${text ?? ""}"`,
    );
  }
  if (clientCa === undefined && (found === "verifyifgiven" || found === "requireandverify")) {
    throw new Fault("E_USAGE", `--tls client-auth=${found}: client-ca is needed, to verify by`);
  }
  return found;
}

function readVersion(text: string): TlsConfig["min"] {
  const found = Object.entries(versions).find(([name]) => name === text)?.[1];
  if (found !== undefined) return found;
  throw new Fault("E_USAGE", `--tls min: 1.2 or 1.3, not "${text}"`);
}
