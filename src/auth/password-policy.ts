/** Which passwords users may be given through the administration. */
import { Fault } from "../model/fault.ts";

export interface PasswordPolicy {
  /** Characters; 0 for the reference's rule alone, six bytes. */
  readonly charactersMin: number;
}

/** Passwords that are guessed first; a policy refuses them, and what begins with them. */
const guessed = ["password", "passw0rd", "12345678", "qwertyui", "iloveyou", "letmein", "admin123"];

/** Throws Fault E_PASSWORD with what is wrong; nothing of the password is in it. */
export function checkNewPassword(policy: PasswordPolicy, user: string, password: string): void {
  const { charactersMin } = policy;
  if (charactersMin === 0) return;
  if ([...password].length < charactersMin) {
    throw refuse(`it has fewer than ${charactersMin} characters (--acl password-min)`);
  }
  const lower = password.toLowerCase();
  if (user !== "" && lower.includes(user.toLowerCase())) throw refuse("it holds the user's name");
  if (new Set(lower).size < 4) throw refuse("it has fewer than four different characters");
  if (guessed.some((one) => lower.startsWith(one) && lower.length < one.length + 4)) {
    throw refuse("it is one that everybody guesses");
  }
}

function refuse(reason: string): Fault {
  return new Fault("E_PASSWORD", `this password cannot be used: ${reason}`);
}
