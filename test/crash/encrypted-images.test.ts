// Goal: what `images.test.ts` says of a store holds of an encrypted one.
process.env["WEFT_CRASH_ENCRYPTED"] = "1";
await import("./images.test.ts");
