/** What the commands that ask a running server show it: `--token`, `--key`, `--creds` or `--access-token`. */
import type { Credentials } from "../load/client.ts";
import type { Login } from "../load/login.ts";
import { Fault } from "../model/fault.ts";
import { parseCount, parseSuperflag } from "./superflag.ts";

export interface CredentialOptions {
  readonly to: string;
  readonly token: string | undefined;
  readonly key: string | undefined;
  /** `user=…; password=…; namespace=…` */
  readonly creds: string | undefined;
  readonly accessToken: string | undefined;
}

/** Fault E_STARTUP where two ways of saying who it is contradict each other. */
export function readCredentials(options: CredentialOptions): Credentials {
  const { token, key, accessToken } = options;
  const login = readLogin(options.creds ?? "");
  if (login !== undefined && accessToken !== undefined) {
    throw new Fault("E_STARTUP", "--creds and --access-token both say who it is: give one");
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
    throw new Fault("E_STARTUP", '--creds: a user and its password, as "user=groot; password=…"');
  }
  return {
    user,
    password,
    namespace: parseCount("--creds namespace", given.get("namespace") ?? "0"),
  };
}
