/** What becomes of a message in memory, told from its bytes before the first object is made of them. */
import protobuf from "protobufjs/light.js";

/** An object, an element of a list or a member of a map: measured on messages of a million of the smallest. */
const bytesOfField = 300;
/** Of the texts, in strings of which a part may be in two bytes for each character. */
const bytesOfTextByte = 2;

/** Bytes beside the message's own. Of bytes that are no message: at least as much as reading them takes. */
export function weighMessage(type: protobuf.Type, bytes: Uint8Array): number {
  const reader = protobuf.Reader.create(bytes);
  return countFields(type, reader, bytes.length) * bytesOfField + bytes.length * bytesOfTextByte;
}

function countFields(type: protobuf.Type, reader: protobuf.Reader, end: number): number {
  let count = 0;
  try {
    while (reader.pos < end) {
      const tag = reader.uint32();
      count++;
      const inner = type.fieldsById[tag >>> 3]?.resolvedType;
      if (inner instanceof protobuf.Type && (tag & 7) === 2) {
        const length = reader.uint32();
        count += countFields(inner, reader, Math.min(end, reader.pos + length));
      } else reader.skipType(tag & 7);
    }
  } catch {
    // Whoever reads it says what is wrong with it.
    reader.pos = end;
  }
  return count;
}
