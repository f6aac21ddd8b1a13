import { describe, expect, test } from "vitest";
import { drive } from "../../base/maybe.ts";
import { readJsonBody, readJsonBodyInSteps } from "./body.ts";
import { decodeJson, NumberText } from "./json.ts";

function refusal(body: string): string {
  try {
    readJsonBody(body);
  } catch (error) {
    return (error as Error).message;
  }
  return "accepted";
}

describe("JSON of a request", () => {
  test("numbers that a double would change keep their digits", () => {
    expect(decodeJson('{"a": 9007199254740993, "b": 1.0, "c": -7, "d": 1e3}')).toEqual({
      a: new NumberText("9007199254740993"),
      b: new NumberText("1.0"),
      c: -7,
      d: new NumberText("1e3"),
    });
  });

  test("both ways of decoding agree where nothing is lost", () => {
    const text = '{"a":[1,-2,{"b":"x\\u00e9\\n"}],"c":null,"d":true,"e":{}}';
    expect(decodeJson(`${text} 1.5`)).toEqual(JSON.parse(text));
  });

  test("a member called __proto__ is a member", () => {
    const value = decodeJson('{"__proto__": 1.5}') as Record<string, unknown>;
    expect(Object.keys(value)).toEqual(["__proto__"]);
  });
});

describe("request bodies", () => {
  test("members in any case, unknown ones and text behind the object", () => {
    expect(readJsonBody('{"Query":"{a}","VARIABLES":{"x":1},"id":7} tail')).toMatchObject({
      query: "{a}",
      variables: { x: 1 },
    });
  });

  test.each([
    ["", "EOF"],
    ['{"query": "{', "unexpected EOF"],
    ["hello", "invalid character 'h' looking for beginning of value"],
    ["[1]", "json: cannot unmarshal array into Go value of type schema.Request"],
    ['{"query" 1}', "invalid character '1' after object key"],
    ['{"query": tru}', "invalid character '}' in literal true (expecting 'e')"],
    [
      '{"query":7}',
      "json: cannot unmarshal number into Go struct field Request.query of type string",
    ],
    [
      '{"variables":[]}',
      "json: cannot unmarshal array into Go struct field Request.variables of type map[string]interface {}",
    ],
  ])("%s is refused", (body, detail) => {
    expect(refusal(body)).toBe(`Not a valid GraphQL request body: ${detail}`);
  });

  test("null is an empty request", () => {
    expect(readJsonBody("null").query).toBe("");
  });
});

describe("long bodies", () => {
  const filler = '{"n":1.0,"t":"\\u00e9","d":9007199254740993},'.repeat(4000);
  const long = (end: string): string => `{"query":"{a}","variables":{"x":[${filler}${end}`;

  test("are decoded in steps to what short ones are", async () => {
    const body = `${long('{"__proto__":-0}]}}')} tail`;
    let looks = 0;
    const look = (): Promise<void> => {
      looks++;
      return Promise.resolve();
    };
    expect(await drive(readJsonBodyInSteps(body, look))).toEqual(readJsonBody(body));
    expect(looks).toBeGreaterThan(1);
  });

  test.each([
    "]",
    '"a',
    "tru",
    "1 2]}}",
    '{"a" 1}',
    '"\\x"',
    '{"a":1,}',
    "1.]}}",
    "",
    "[1,]",
    "{1",
  ])("are refused as short ones are: %s", async (end) => {
    const body = long(end);
    const reading = (async () => drive(readJsonBodyInSteps(body, () => undefined)))();
    await expect(reading).rejects.toThrow(refusal(body));
  });
});
