/**
 * As much of S3 as backups and exports need, in memory, by paths: GET, PUT, HEAD, DELETE, ListObjectsV2 in pages of
 * three, and uploads in parts, each at least 5 MiB but for the last.
 * Refuses what is not signed (Signature Version 4, computed here by the published rules).
 */
import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface S3Stub {
  readonly url: string;
  readonly objects: Map<string, Buffer>;
  /** Begun, neither finished nor abandoned: their parts. */
  readonly uploads: Map<string, Buffer[]>;
  close(): void;
}

export const account = { id: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG", region: "eu-test-1" };
const pageSize = 3;
const partBytesMin = 5 * 1024 * 1024;

export async function startS3Stub(bucket: string): Promise<S3Stub> {
  const objects = new Map<string, Buffer>();
  const uploads = new Map<string, Buffer[]>();
  const server: Server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => answer(req, res, Buffer.concat(chunks)));
  });
  const answer = (req: IncomingMessage, res: ServerResponse, body: Buffer): void => {
    const url = new URL(req.url ?? "", "http://x");
    const [, name, key = ""] = /^\/([^/]*)\/?(.*)$/.exec(decodeURIComponent(url.pathname)) ?? [];
    const refusal = findRefusal(req, url, body);
    if (refusal !== undefined)
      return fail(res, refusal === "XAdminUserNotFound" ? 404 : 403, refusal);
    if (name !== bucket) return fail(res, 404, "NoSuchBucket");
    if (req.method === "GET" && key === "") return list(res, objects, url);
    if (url.searchParams.has("uploads") || url.searchParams.has("uploadId")) {
      return upload(req, res, { key, url, body, objects, uploads });
    }
    if (req.method === "PUT") objects.set(key, body);
    else if (req.method === "DELETE") objects.delete(key);
    else {
      const object = objects.get(key);
      if (object === undefined) return fail(res, 404, "NoSuchKey");
      res.setHeader("content-length", object.length);
      res.end(req.method === "HEAD" ? undefined : object);
      return;
    }
    res.end();
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, objects, uploads, close: () => server.close() };
}

interface UploadRequest {
  readonly key: string;
  readonly url: URL;
  readonly body: Buffer;
  readonly objects: Map<string, Buffer>;
  readonly uploads: Map<string, Buffer[]>;
}

function upload(
  { method }: IncomingMessage,
  res: ServerResponse,
  { key, url, body, objects, uploads }: UploadRequest,
): void {
  if (url.searchParams.has("uploads")) {
    const id = `${key}+${uploads.size}`;
    uploads.set(id, []);
    res.end(
      `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
    );
    return;
  }
  const id = url.searchParams.get("uploadId") ?? "";
  const parts = uploads.get(id);
  if (parts === undefined) return fail(res, 404, "NoSuchUpload");
  if (method === "PUT") {
    const number = Number(url.searchParams.get("partNumber"));
    parts[number - 1] = body;
    res.setHeader("etag", tagOf(body));
  } else if (method === "DELETE") uploads.delete(id);
  else {
    const tags = [...body.toString().matchAll(/<ETag>([^<]+)</g)].map(([, tag]) => tag);
    if (tags.join(" ") !== parts.map(tagOf).join(" ")) return completed(res, "InvalidPart");
    if (parts.slice(0, -1).some(({ length }) => length < partBytesMin)) {
      return completed(res, "EntityTooSmall");
    }
    objects.set(key, Buffer.concat(parts));
    uploads.delete(id);
  }
  res.end();
}

/** S3 answers with 200 before it knows whether the parts make an object. */
function completed(res: ServerResponse, code: string): void {
  res.end(`<?xml version="1.0"?><Error><Code>${code}</Code></Error>`);
}

const tagOf = (part: Buffer): string => `"${createHash("md5").update(part).digest("hex")}"`;

function fail(res: ServerResponse, status: number, code: string): void {
  res.statusCode = status;
  res.end(`<?xml version="1.0"?><Error><Code>${code}</Code></Error>`);
}

function list(res: ServerResponse, objects: ReadonlyMap<string, Buffer>, url: URL): void {
  const prefix = url.searchParams.get("prefix") ?? "";
  const after = url.searchParams.get("continuation-token") ?? "";
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix)).toSorted();
  const rest = keys.filter((key) => key > after);
  const page = rest.slice(0, pageSize);
  const next =
    rest.length > pageSize ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : "";
  const contents = page.map((key) => `<Contents><Key>${key}</Key></Contents>`).join("");
  res.end(`<ListBucketResult>${contents}${next}</ListBucketResult>`);
}

/** The code that S3 answers with; undefined where the signature is right. */
function findRefusal(req: IncomingMessage, url: URL, body: Buffer): string | undefined {
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d+)\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([\da-f]+)$/;
  const [, id, day = "", region = "", names = "", signature] =
    pattern.exec(req.headers.authorization ?? "") ?? [];
  // As versitygw says it, with 404.
  if (id === "stranger") return "XAdminUserNotFound";
  if (id !== account.id) return "InvalidAccessKeyId";
  const sum = createHash("sha256").update(body).digest("hex");
  if (req.headers["x-amz-content-sha256"] !== sum) return "XAmzContentSHA256Mismatch";
  const query = [...url.searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted()
    .join("&");
  const headers = names.split(";").map((name) => `${name}:${String(req.headers[name]).trim()}\n`);
  const path = decodeURIComponent(url.pathname).split("/").map(encode).join("/");
  const canonical = [req.method, path, query, headers.join(""), names, sum].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const hash = createHash("sha256").update(canonical).digest("hex");
  const text = ["AWS4-HMAC-SHA256", req.headers["x-amz-date"], scope, hash].join("\n");
  const sign = (key: string | Buffer, part: string): Buffer =>
    createHmac("sha256", key).update(part).digest();
  const key = [region, "s3", "aws4_request"].reduce(sign, sign(`AWS4${account.secret}`, day));
  return sign(key, text).toString("hex") === signature ? undefined : "SignatureDoesNotMatch";
}

function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (unit) => `%${unit.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
