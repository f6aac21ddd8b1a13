// Goal: a load outlives its access token, and logs in once for all of its requests.
import { expect, test } from "vitest";
import type { Answer } from "./answer.ts";
import { Session } from "./login.ts";

const answer = (json: unknown, messages: string[] = []): Answer => ({
  status: 200,
  messages,
  json,
  startTs: undefined,
});
const expired = answer({}, [
  "rpc error: code = Unauthenticated desc = unable to parse jwt token: token has invalid claims: Token is expired",
]);

/** A server whose tokens are numbers: the newest alone is good. */
function makeServer(refreshes: boolean) {
  const seen = { logins: [] as string[], newest: 0, asked: 0 };
  const post = async (body: string): Promise<Answer> => {
    const isRefresh = body.includes("refresh_token");
    seen.logins.push(isRefresh ? "refresh" : "password");
    await Promise.resolve();
    if (isRefresh && !refreshes) return answer({}, ["invalid username or password"]);
    seen.newest++;
    return answer({ data: { accessJWT: `a${seen.newest}`, refreshJWT: `r${seen.newest}` } });
  };
  const ask = async (token: string): Promise<Answer> => {
    seen.asked++;
    await Promise.resolve();
    return token === `a${seen.newest}` ? answer({ data: token }) : expired;
  };
  return { seen, post, ask };
}

const groot = { user: "groot", password: "password", namespace: 0 };

test.each([
  [true, ["password", "refresh"]],
  [false, ["password", "refresh", "password"]],
])("renewed once for all requests; refreshes work: %s", async (refreshes, logins) => {
  const { seen, post, ask } = makeServer(refreshes);
  const session = new Session(groot, post);
  const eight = () => Promise.all(Array.from({ length: 8 }, () => session.with(ask)));
  expect(new Set((await eight()).map(({ json }) => JSON.stringify(json)))).toEqual(
    new Set(['{"data":"a1"}']),
  );
  seen.newest = 7;
  expect(new Set((await eight()).map(({ json }) => JSON.stringify(json)))).toEqual(
    new Set(['{"data":"a8"}']),
  );
  expect(seen.logins).toEqual(logins);
});

test("a refused login says so, and who is not there may be asked again", async () => {
  const refused = new Session(groot, () =>
    Promise.resolve(answer({}, ["invalid username or password"])),
  );
  const never = () => Promise.reject(new Error("not reached"));
  await expect(refused.with(never)).rejects.toThrow("login as groot: invalid username or password");
  const { post, ask } = makeServer(true);
  let isThere = false;
  const absent = { status: 0, messages: ["no answer"], json: undefined, startTs: undefined };
  const session = new Session(groot, (body) => (isThere ? post(body) : Promise.resolve(absent)));
  expect(await session.with(ask)).toBe(absent);
  isThere = true;
  expect((await session.with(ask)).json).toEqual({ data: "a1" });
});
