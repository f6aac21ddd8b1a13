/**
 * Whether a machine's certificate is one by which the others reach it (`--cluster cert`, `key`, `address`). They look at
 * it when they dial; a machine that nobody reaches would follow all the same, and one day lead those who do not hear it.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { Fault } from "../model/fault.ts";

interface OwnFiles {
  /** Files, PEM. `ca`: one or more. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  /** Of `--cluster address`. */
  readonly host: string;
}

/** A machine is both to the others. Without extended key usage a certificate is for all. */
const roles = [
  { name: "servers", oid: "1.3.6.1.5.5.7.3.1" },
  { name: "clients", oid: "1.3.6.1.5.5.7.3.2" },
] as const;

/** Fault E_USAGE, one line. */
export function checkOwnCertificate({ ca, cert, key, host }: OwnFiles): void {
  const certificate = parse(
    "cert",
    cert,
    "certificate",
    () => new X509Certificate(readFileSync(cert)),
  );
  const privateKey = parse("key", key, "key", () => createPrivateKey(readFileSync(key)));
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new Fault("E_USAGE", `--cluster key: ${key} is not the key of ${cert}`);
  }
  const isNamed = isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host);
  if (isNamed === undefined) {
    throw new Fault(
      "E_USAGE",
      `--cluster cert: ${cert} does not name ${host}, by which the others reach this machine (address)`,
    );
  }
  checkAuthority(ca, cert);
  const uses: readonly string[] | undefined = certificate.keyUsage;
  const lacks = uses && roles.find(({ oid }) => !uses.includes(oid));
  if (lacks !== undefined) {
    throw new Fault(
      "E_USAGE",
      `--cluster cert: ${cert} is not for ${lacks.name} (extendedKeyUsage=serverAuth,clientAuth)`,
    );
  }
}

/** Fault E_USAGE where the others, who have the same `ca`, would not take the certificate. */
function checkAuthority(ca: string, cert: string): void {
  const authorities = parse("ca", ca, "certificate", () => readCertificates(ca));
  const [own, ...between] = readCertificates(cert);
  for (let one = own; one !== undefined;) {
    const child = one;
    if (authorities.some((issuer) => isIssuer(issuer, child))) return;
    one = between.find((issuer) => issuer !== child && isIssuer(issuer, child));
    if (one !== undefined) between.splice(between.indexOf(one), 1);
  }
  throw new Fault("E_USAGE", `--cluster ca: ${ca} is not the authority that has signed ${cert}`);
}

function isIssuer(issuer: X509Certificate, child: X509Certificate): boolean {
  return child.checkIssued(issuer) && child.verify(issuer.publicKey);
}

function readCertificates(path: string): X509Certificate[] {
  const blocks = readFileSync(path, "utf8").match(
    /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g,
  );
  if (blocks === null) throw new Error("it holds none");
  return blocks.map((block) => new X509Certificate(block));
}

function parse<T>(setting: string, path: string, what: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new Fault("E_USAGE", `--cluster ${setting}: ${path} holds no ${what}`, {
      cause: error,
    });
  }
}
