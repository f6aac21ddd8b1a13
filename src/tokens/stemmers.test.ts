import { describe, expect, test } from "vitest";
import { languageBase, isLanguage } from "./languages.ts";
import { stemmerOf } from "./stemmers.ts";
import { stopWordsOf } from "./stop-words.ts";

describe("stemmers", () => {
  test.each([
    ["en", "running lighthouses ponies happily", "run lighthous poni happili"],
    ["de", "häuser häusern schönsten kindern tags", "haus haus schon kind tag"],
    ["es", "niño niños luces intereses casas gato", "niño niñ luz interes cas gato"],
    ["it", "gatto gatti ragazzi ragazzo amiche", "gatto gatti ragazz ragazz amic"],
    [
      "fr",
      "chevaux journaux bateaux heureuse actrice maisons",
      "cheval journal bateau heureu acteu maison",
    ],
    ["pt", "canções papéis fáceis cantoras rapidamente boas", "canca papel facel cantor rapid boa"],
    ["ru", "книги гавани", "книг гаван"],
    ["tr", "kitaplar evlerimizde", "kitap ev"],
    ["sv", "häuser flickorna", "häus flick"],
    ["ar", "الكتاب والكتب", "كتاب كتب"],
    ["hi", "लडका लडके किताबें", "लडक लडक किताब"],
  ])("%s: %s", (language, words, stems) => {
    const stem = stemmerOf(language) ?? ((word: string) => word);
    expect(words.split(" ").map(stem).join(" ")).toBe(stems);
  });

  test("other languages have none", () => {
    expect(stemmerOf("pl")).toBeUndefined();
    expect(stemmerOf("zh")).toBeUndefined();
  });
});

test("stop words are those that clients know", () => {
  const counts = ["en", "de", "fr", "ru", "ca", "es", "hu", "zh"].map(
    (base) => stopWordsOf(base).size,
  );
  expect(counts).toEqual([174, 231, 164, 159, 218, 308, 198, 0]);
  expect(stopWordsOf("en").has("a")).toBe(true);
  expect(stopWordsOf("en").has("will")).toBe(false);
});

test("tags have a base language; what is none is English", () => {
  const tags = ["en-GB", "de_AT", "PT-br", "zh-Hant-TW", "", ".", "x-old", "zz", "xx", "ckb"];
  expect(tags.map(languageBase)).toEqual("en de pt zh en en en en en ckb".split(" "));
  expect([isLanguage("sv"), isLanguage("xx"), isLanguage("not a tag")]).toEqual([
    true,
    false,
    false,
  ]);
});
