/** `restore` and `restoreTenant`: what the server holds becomes that of a backup. */
import { Fault } from "../model/fault.ts";
import type { PlaceWish } from "./backup-fields.ts";
import type { FieldTable } from "./field.ts";
import { readCredentials, type CredentialsInput } from "./place-credentials.ts";

export interface RestoreWish extends PlaceWish {
  /** As it is listed; undefined: the number says which, or `at`. */
  readonly backupId: string | undefined;
  /** As it is listed, from 1 on. */
  readonly backupNum: number | undefined;
  /** As `weft restore --at` takes it; undefined: all that is there. */
  readonly at: string | undefined;
  /** As the caller names it. */
  readonly keyFile: string | undefined;
  /** undefined: all of them. */
  readonly namespace: { readonly from: number; readonly into: number } | undefined;
}

/** Restores run beside the server's own processes. */
export interface Restores {
  /** The task's id, as `0x1a`. Fault E_BACKUP for what cannot be restored. */
  start(wish: RestoreWish): Promise<string>;
  /** Only administration is answered from now on. */
  drain(): Promise<void>;
}

interface RestoreInput extends CredentialsInput {
  readonly location: string;
  readonly backupId?: string | null;
  readonly backupNum?: number | null;
  readonly incrementalFrom?: number | null;
  readonly isPartial?: boolean | null;
  readonly encryptionKeyFile?: string | null;
  readonly at?: string | null;
  readonly vaultAddr?: string | null;
  readonly vaultRoleIDFile?: string | null;
  readonly vaultSecretIDFile?: string | null;
  readonly vaultPath?: string | null;
  readonly vaultField?: string | null;
  readonly vaultFormat?: string | null;
}

interface TenantInput {
  readonly restoreInput?: RestoreInput | null;
  readonly fromNamespace: number;
  readonly intoNamespace?: number | null;
}

export function makeRestoreFields(restores: Restores | undefined): FieldTable {
  return {
    "Mutation.restore": ({ input }: { input: RestoreInput }) => begin(restores, input, undefined),
    "Mutation.restoreTenant": ({ input }: { input: TenantInput }) => {
      const { restoreInput, fromNamespace: from, intoNamespace } = input;
      if (restoreInput === undefined || restoreInput === null) {
        throw refuse("restoreInput says from where");
      }
      // As in the reference it becomes the default namespace.
      const into = intoNamespace ?? 0;
      if (from < 0 || into < 0) throw refuse("a namespace is a number from 0 on");
      return begin(restores, restoreInput, { from, into });
    },
  };
}

async function begin(
  restores: Restores | undefined,
  input: RestoreInput,
  namespace: RestoreWish["namespace"],
): Promise<object> {
  const wish = { ...readWish(input), namespace };
  if (restores === undefined) throw new Fault("E_NOT_YET", "there is no store to restore into");
  const taskId = await restores.start(wish);
  // Whoever restores in parts lets clients in again when all of them are there.
  if (input.isPartial === true) await restores.drain();
  return { code: "Success", message: "Restore operation started.", taskId };
}

function readWish(input: RestoreInput): Omit<RestoreWish, "namespace"> {
  const { backupNum, incrementalFrom } = input;
  if (typeof backupNum === "number" && backupNum < 0) {
    throw refuse(
      "backupNum value should be equal or greater than zero",
      "couldn't get input argument",
    );
  }
  checkIncremental(incrementalFrom ?? 0, backupNum ?? 0);
  const vault = Object.entries(input).some(([name, value]) => name.startsWith("vault") && value);
  if (vault) throw new Fault("E_NOT_YET", "keys of a vault are not available: name a key file");
  const [backupId, at] = [given(input.backupId), given(input.at)];
  const number = typeof backupNum === "number" && backupNum > 0 ? backupNum : undefined;
  if (at !== undefined && (backupId ?? number) !== undefined) {
    throw refuse("a backup, or a moment (at): one of the two");
  }
  return {
    location: input.location,
    credentials: readCredentials(input, "E_BACKUP"),
    backupId,
    backupNum: number,
    at,
    keyFile: given(input.encryptionKeyFile),
  };
}

/** Each backup holds everything: a part of a series gives what all of them would. */
function checkIncremental(from: number, number: number): void {
  if (from < 0) throw refuse("incrementalFrom value should be equal or greater than zero");
  if (from === 1) throw refuse("Incremental restore must not include full backup");
  if (number > 0 && from > number) {
    throw refuse("incrementalFrom value should be less than or equal to backupNum");
  }
}

/** An empty text is as good as none. */
function given(text: string | null | undefined): string | undefined {
  return text === null || text === "" ? undefined : text;
}

function refuse(message: string, front?: string): Fault {
  return new Fault("E_BACKUP", front === undefined ? message : `${front}: ${message}`);
}
