/** Questions of commands to `/admin` of a running server. */
import { Fault } from "../model/fault.ts";
import { openClient, type CredentialOptions } from "./credentials.ts";

type AskAdmin = <T>(query: string, variables?: object) => Promise<T>;

/** What it asks rejects with Fault E_STARTUP, in the words of the server's first error. */
export function makeAdminClient(options: CredentialOptions): AskAdmin {
  const client = openClient(options);
  return async <T>(query: string, variables: object = {}): Promise<T> => {
    const body = JSON.stringify({ query, variables });
    const { messages, json } = await client.post("/admin", "application/json", body);
    const [message] = messages;
    if (message !== undefined) throw new Fault("E_STARTUP", message);
    return (json as { data: T }).data;
  };
}
