/** What the commands that ask a running server show it: `--token`, `--key`, `--creds` or `--access-token`. */
import { readFileSync } from "node:fs";
import { type Credentials, type FeedClient, makeClient } from "../load/client.ts";
import type { Login } from "../load/login.ts";
import type { Transport } from "../load/transport.ts";
import { Fault } from "../model/fault.ts";
import { openPrivateSockets } from "./private-socket.ts";
import { parseCount, parseSuperflag } from "./superflag.ts";

export interface CredentialOptions {
  readonly to: string;
  readonly token: string | undefined;
  readonly key: string | undefined;
  /** `user=…; password=…; namespace=…` */
  readonly creds: string | undefined;
  readonly accessToken: string | undefined;
  /** Files in PEM. */
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly certKey: string | undefined;
  /** Directory of a server that this process belongs to. */
  readonly beside: string | undefined;
}

/** A client of the server that the options name. Fault E_USAGE, one line, where they are at odds. */
export function openClient(
  options: CredentialOptions,
  headers?: Readonly<Record<string, string>>,
): FeedClient {
  const credentials = readCredentials(options);
  return makeClient(options.to, { ...credentials, headers }, readTransport(options));
}

function readTransport({ ca, cert, certKey, beside }: CredentialOptions): Transport {
  if (beside !== undefined) return { socketPath: openPrivateSockets(beside).pathOf("own") };
  if ((cert === undefined) !== (certKey === undefined)) {
    throw new Fault("E_USAGE", "--cert and --cert-key belong together");
  }
  return {
    ca: readPem("--ca", ca),
    cert: readPem("--cert", cert),
    certKey: readPem("--cert-key", certKey),
  };
}

function readPem(flag: string, file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Fault("E_USAGE", `${flag}: ${file} cannot be read`, { cause: error });
  }
}

/** Fault E_USAGE where two ways of saying who it is contradict each other. */
function readCredentials(options: CredentialOptions): Credentials {
  const { token, key, accessToken } = options;
  const login = readLogin(options.creds ?? "");
  if (login !== undefined && accessToken !== undefined) {
    throw new Fault("E_USAGE", "--creds and --access-token both say who it is: give one");
  }
  return { token, key, accessToken, login };
}

const keys = ["user", "password", "namespace"] as const;

function readLogin(text: string): Login | undefined {
  const given = parseSuperflag("creds", text, keys);
  if (given.size === 0) return undefined;
  const user = given.get("user") ?? "";
  const password = given.get("password") ?? "";
  if (user === "" || password === "") {
    throw new Fault("E_USAGE", '--creds: a user and its password, as "user=groot; password=…"');
  }
  return {
    user,
    password,
    namespace: parseCount("--creds namespace", given.get("namespace") ?? "0"),
  };
}
