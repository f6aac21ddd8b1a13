/**
 * Whether a machine's certificate is one by which the others reach it (`--cluster cert`, `key`, `address`). They look at
 * it when they dial; a machine that nobody reaches would follow all the same, and one day lead those who do not hear it.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { Fault } from "../model/fault.ts";

interface OwnFiles {
  /** Files, PEM. */
  readonly cert: string;
  readonly key: string;
  /** Of `--cluster address`. */
  readonly host: string;
}

/** Fault E_STARTUP, one line. */
export function checkOwnCertificate({ cert, key, host }: OwnFiles): void {
  const certificate = parse(
    "cert",
    cert,
    "certificate",
    () => new X509Certificate(readFileSync(cert)),
  );
  const privateKey = parse("key", key, "key", () => createPrivateKey(readFileSync(key)));
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new Fault("E_STARTUP", `--cluster key: ${key} is not the key of ${cert}`);
  }
  const isNamed = isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host);
  if (isNamed === undefined) {
    throw new Fault(
      "E_STARTUP",
      `--cluster cert: ${cert} does not name ${host}, by which the others reach this machine (address)`,
    );
  }
}

function parse<T>(setting: string, path: string, what: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new Fault("E_STARTUP", `--cluster ${setting}: ${path} holds no ${what}`, {
      cause: error,
    });
  }
}
