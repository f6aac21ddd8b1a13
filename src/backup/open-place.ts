/** A place by what users call it: `dir:PATH`, or `s3://BUCKET/PREFIX` with the usual variables of the environment. */
import { Fault } from "../model/fault.ts";
import { openDirectory } from "./directory.ts";
import type { BackupPlace } from "./place.ts";
import { openBucket, type Bucket, type S3Account } from "./s3.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** A plain path is a directory. Fault E_USAGE for what is no place. */
export function openPlace(text: string, env: Environment): BackupPlace {
  const [, kind, rest = ""] = /^([a-z][a-z0-9+.-]+):(.*)$/is.exec(text) ?? [];
  if (kind === undefined) return openDirectory(text);
  if (kind === "dir" && rest !== "") return openDirectory(rest);
  return openBucketPlace(text, env, "backups (as dir:/var/backups/weft or s3://bucket/weft)");
}

const bucketPattern = /^s3:\/\/([a-z0-9][a-z0-9.-]+)(?:\/([\w./-]*))?$/;

/** Whether it is of the form `s3://BUCKET/PREFIX`. */
export function isBucketPlace(text: string): boolean {
  return bucketPattern.test(text);
}

/** `purpose`: for the fault, E_USAGE, of what is no `s3://BUCKET/PREFIX`. */
export function openBucketPlace(text: string, env: Environment, purpose: string): Bucket {
  const [, bucket, prefix = ""] = bucketPattern.exec(text) ?? [];
  if (bucket === undefined) {
    throw new Fault("E_USAGE", `"${text}" is no place for ${purpose}`);
  }
  return openBucket(readAccount(env), bucket, prefix.replaceAll(/^\/+|\/+$/g, ""));
}

function readAccount(env: Environment): S3Account {
  const region = env["AWS_REGION"] ?? env["AWS_DEFAULT_REGION"] ?? "us-east-1";
  const endpoint = env["AWS_ENDPOINT_URL_S3"] ?? env["AWS_ENDPOINT_URL"];
  const accessKeyId = env["AWS_ACCESS_KEY_ID"];
  const secretAccessKey = env["AWS_SECRET_ACCESS_KEY"];
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new Fault(
      "E_USAGE",
      "a place at s3: needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment",
    );
  }
  return {
    endpoint: (endpoint ?? `https://s3.${region}.amazonaws.com`).replace(/\/+$/, ""),
    region,
    accessKeyId,
    secretAccessKey,
    sessionToken: env["AWS_SESSION_TOKEN"],
  };
}
