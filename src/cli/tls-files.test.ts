// Goal: a file that is being written, and is empty for a moment, is never taken for a certificate.
import { copyFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { silentLogger } from "../base/log.ts";
import { TlsFiles } from "./tls-files.ts";

const certificates = join(import.meta.dirname, "..", "..", "test", "certificates");
const folder = mkdtempSync(join(tmpdir(), "weft-tls-files-"));
const files = {
  cert: join(folder, "own.pem"),
  key: join(folder, "own.key"),
  clientCa: join(folder, "authority.pem"),
};
const config = { ...files, min: "TLSv1.2", clientAuth: "requireandverify" } as const;

function copyAll(): void {
  copyFileSync(join(certificates, "server.pem"), files.cert);
  copyFileSync(join(certificates, "server.key"), files.key);
  copyFileSync(join(certificates, "authority.pem"), files.clientCa);
}

afterAll(() => rmSync(folder, { recursive: true }));

test.each(["cert", "key", "clientCa"] as const)(
  "%s: one that holds none is refused, and named",
  (name) => {
    copyAll();
    expect(new TlsFiles(config, silentLogger).material.cert).toContain("BEGIN CERTIFICATE");
    truncateSync(files[name]);
    expect(() => new TlsFiles(config, silentLogger)).toThrow(`--tls: ${files[name]} holds no`);
    writeFileSync(files[name], "not yet\n");
    expect(() => new TlsFiles(config, silentLogger)).toThrow(`--tls: ${files[name]} holds no`);
  },
);
