/** What requests of the console show of who sends them: kept in the tab's own storage, and nowhere else. */
import { systemClock } from "../base/clock.ts";
import { RefusedByServer } from "./refused.ts";
import { makeStored } from "./stored.ts";

export interface Access {
  /** `X-Auth-Token`: an Admin or a Client key. */
  readonly key: string;
  /** `X-Dgraph-AuthToken`: the administration token. */
  readonly token: string;
  /** Who has logged in; "" for nobody. */
  readonly user: string;
  readonly namespace: number;
  readonly accessJwt: string;
  readonly refreshJwt: string;
  /** The application's own token, in the header that the schema names. */
  readonly header: string;
  readonly headerValue: string;
}

export const noAccess: Access = {
  key: "",
  token: "",
  user: "",
  namespace: 0,
  accessJwt: "",
  refreshJwt: "",
  header: "",
  headerValue: "",
};

export const access = makeStored<Access>(
  () => sessionStorage,
  "weft-access",
  (kept) => (typeof kept === "object" && kept !== null ? { ...noAccess, ...kept } : noAccess),
);

export function isAnonymous(shown: Access): boolean {
  return shown.key === "" && shown.token === "" && shown.accessJwt === "" && shown.header === "";
}

/** Headers for the next request, with a login that has not ended. */
export async function readAccessHeaders(): Promise<Record<string, string>> {
  if (endsSoon(access.get().accessJwt)) await renew();
  const { key, token, accessJwt, header, headerValue } = access.get();
  const headers: Record<string, string> = {};
  if (key !== "") headers["X-Auth-Token"] = key;
  if (token !== "") headers["X-Dgraph-AuthToken"] = token;
  if (accessJwt !== "") headers["X-Dgraph-AccessToken"] = accessJwt;
  if (header !== "") headers[header] = headerValue;
  return headers;
}

export async function logIn(user: string, password: string, namespace: number): Promise<void> {
  const { key, token } = access.get();
  const pair = await askLogin({ userid: user, password, namespace }, { key, token });
  access.set({ ...access.get(), user, namespace, ...pair });
}

export function logOut(): void {
  access.set({ ...access.get(), user: "", namespace: 0, accessJwt: "", refreshJwt: "" });
}

/** Half a minute before its end a login is renewed: a request must arrive with it. */
const renewalMs = 30_000;

function endsSoon(jwt: string): boolean {
  if (jwt === "") return false;
  try {
    const claims: unknown = JSON.parse(
      atob((jwt.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/")),
    );
    const { exp } = claims as { exp?: unknown };
    return typeof exp === "number" && exp * 1000 - systemClock.nowMs() < renewalMs;
  } catch {
    return false;
  }
}

let renewal: Promise<void> | undefined;

/** One renewal for all requests that wait for it. One that is refused is a login that has ended. */
async function renew(): Promise<void> {
  renewal ??= (async () => {
    const { key, token, refreshJwt } = access.get();
    try {
      const pair = await askLogin({ refresh_token: refreshJwt }, { key, token });
      access.set({ ...access.get(), ...pair });
    } catch {
      logOut();
    }
  })();
  await renewal;
  renewal = undefined;
}

async function askLogin(
  body: object,
  shown: Pick<Access, "key" | "token">,
): Promise<Pick<Access, "accessJwt" | "refreshJwt">> {
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (shown.key !== "") headers["X-Auth-Token"] = shown.key;
  if (shown.token !== "") headers["X-Dgraph-AuthToken"] = shown.token;
  const answer = await fetch("login", { method: "POST", headers, body: JSON.stringify(body) });
  const text = await answer.text();
  const json = JSON.parse(text) as {
    data?: { accessJWT?: string; refreshJWT?: string };
    errors?: readonly { message: string }[];
  };
  const { accessJWT, refreshJWT } = json.data ?? {};
  if (accessJWT === undefined || refreshJWT === undefined) {
    throw new RefusedByServer(json.errors?.[0]?.message ?? "The login was refused.", false);
  }
  return { accessJwt: accessJWT, refreshJwt: refreshJWT };
}
