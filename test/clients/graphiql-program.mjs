/** Opens the page `graphiql.html` in a window that draws nothing, looks at the schema in it and asks a query. Prints the answer. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { JSDOM } from "jsdom";

const html = readFileSync("graphiql.html", "utf8");
const packages = createRequire(import.meta.url);
const [head = ""] = html.split("<script");
const { window } = new JSDOM(head, {
  url: "http://localhost:3000/",
  pretendToBeVisual: true,
  runScripts: "outside-only",
});

class Observer {
  observe() {}
  unobserve() {}
  disconnect() {}
}

Object.assign(window, {
  fetch,
  Headers,
  TextDecoder,
  AbortController,
  matchMedia: () => ({ matches: false, addListener() {}, removeListener() {} }),
  ResizeObserver: Observer,
});
// CodeMirror measures what it would draw.
const nowhere = { left: 0, right: 0, top: 0, bottom: 0, width: 0, height: 0 };
Object.assign(window.Range.prototype, {
  getClientRects: () => [],
  getBoundingClientRect: () => nowhere,
});
for (const [, source] of html.matchAll(/<script src="https:\/\/unpkg\.com\/([^"]+)"/g)) {
  const [, name, path] = /^([^@]+)@[\d.]+(\/.+)$/.exec(source);
  const folder = packages.resolve(`${name}/package.json`).replace(/\/package\.json$/, "");
  window.eval(readFileSync(`${folder}${path}`, "utf8"));
}
window.eval(/<script>([^<]*)<\/script>/.exec(html)[1]);

const { document } = window;
const press = (selector) => document.querySelector(selector).click();
const editor = (area) => document.querySelector(`${area} .CodeMirror`).CodeMirror;

async function until(look) {
  for (let i = 0; i < 400; i++) {
    if (look()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`waited in vain: ${document.body.textContent.slice(0, 1000)}`);
}

await until(() => document.querySelector(".graphiql-execute-button") !== null);
press('[aria-label="Show Documentation Explorer"]');
await until(() => document.body.textContent.includes("UpdateTaskInput"));
console.log("the schema is shown");
editor(".graphiql-query-editor").setValue(
  "{ queryPerson(order: { asc: name }, first: 1) { name } }",
);
press(".graphiql-execute-button");
await until(() => editor(".result-window").getValue().includes('"data"'));
console.log(JSON.stringify(JSON.parse(editor(".result-window").getValue()).data));
process.exit(0);
