/** Credentials of a bucket, as a caller of `/admin` gives them. */
import { Fault } from "../model/fault.ts";

export interface PlaceCredentials {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly sessionToken: string | undefined;
}

export interface CredentialsInput {
  readonly accessKey?: string | null;
  readonly secretKey?: string | null;
  readonly sessionToken?: string | null;
  readonly anonymous?: boolean | null;
}

/** Undefined where none are given. `code`: of the fault for half of them. */
export function readCredentials(
  input: CredentialsInput,
  code: "E_BACKUP" | "E_TASK",
): PlaceCredentials | undefined {
  const { accessKey, secretKey, sessionToken, anonymous } = input;
  if (anonymous === true) {
    throw new Fault("E_NOT_YET", "requests without a signature (anonymous) are not available yet");
  }
  if (given(accessKey) === undefined && given(secretKey) === undefined) return undefined;
  const [access, secret] = [given(accessKey), given(secretKey)];
  if (access === undefined || secret === undefined) {
    throw new Fault(code, "accessKey and secretKey: both, or neither");
  }
  return { accessKey: access, secretKey: secret, sessionToken: given(sessionToken) };
}

/** An empty text counts as none. */
function given(text: string | null | undefined): string | undefined {
  return text === null || text === "" ? undefined : text;
}
