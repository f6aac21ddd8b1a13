// Evaluated in a page of the console: what of it cannot be read, used or named, one line each.
(() => {
  const found = [];

  // -----------------------------------------------------------------------------------------------------------------
  // Contrast of every text, and of every kind of word that the style sheets of editors know

  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const colorOf = (text) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
    return { rgb: [red, green, blue], alpha: alpha / 255 };
  };
  const lay = ({ rgb, alpha }, below) =>
    rgb.map((part, i) => part * alpha + below[i] * (1 - alpha));
  const luminance = (rgb) => {
    const [red, green, blue] = rgb.map((part) => {
      const share = part / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const upwards = (element) => {
    const chain = [];
    for (let one = element; one !== null; one = one.parentElement) chain.push(one);
    return chain;
  };
  /** WCAG 2.2, 1.4.3. */
  const contrast = (element) => {
    const chain = upwards(element);
    const paper = chain
      .toReversed()
      .reduce(
        (below, one) => lay(colorOf(getComputedStyle(one).backgroundColor), below),
        [255, 255, 255],
      );
    const { rgb, alpha } = colorOf(getComputedStyle(element).color);
    const opacity = chain.reduce((all, one) => all * Number(getComputedStyle(one).opacity), 1);
    const ink = lay({ rgb, alpha: alpha * opacity }, paper);
    const [light, dark] = [luminance(ink), luminance(paper)].toSorted((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
  const judge = (element, name) => {
    const ratio = contrast(element);
    if (ratio < 4.5) found.push(`${name}: contrast ${ratio.toFixed(2)}`);
  };

  const kinds = new Set();
  const collect = (rules) => {
    for (const rule of rules) {
      if (rule.cssRules !== undefined) collect(rule.cssRules);
      for (const [, kind] of (rule.selectorText ?? "").matchAll(/\.(cm-[\w-]+)/g)) kinds.add(kind);
    }
  };
  for (const sheet of document.styleSheets) collect(sheet.cssRules);
  const noWords = /^cm-(?:s-|m-|fat-cursor|animate|searching|tab-wrap|tab$|force-border)/;
  const isShown = (element) => {
    const { left, width } = element.getBoundingClientRect();
    return width > 1 && left >= 0 && element.checkVisibility();
  };
  let editors = 0;
  for (const editor of document.querySelectorAll(".CodeMirror")) {
    const line = editor.querySelector(".CodeMirror-line > span");
    if (line === null || !isShown(editor)) continue;
    editors++;
    const name = editor.querySelector("textarea")?.getAttribute("aria-label") ?? "an editor";
    for (const kind of kinds) {
      if (noWords.test(kind)) continue;
      const word = document.createElement("span");
      word.className = kind;
      word.textContent = "word";
      line.append(word);
      judge(word, `${name}: ${kind}`);
      word.remove();
    }
    const number = editor.querySelector(".CodeMirror-linenumber");
    if (number !== null) judge(number, `${name}: line number`);
  }
  if (kinds.size < 20 && editors > 0) found.push("the style sheets of the editors were not read");
  for (const element of document.querySelectorAll("#console *")) {
    const hasText = [...element.childNodes].some(
      (one) => one.nodeType === 3 && one.textContent.trim() !== "",
    );
    if (!hasText || element.closest(".CodeMirror, :disabled") !== null || !isShown(element))
      continue;
    judge(element, `${element.tagName} "${element.textContent.trim().slice(0, 20)}"`);
  }

  // -----------------------------------------------------------------------------------------------------------------
  // Places

  const canScroll = (element) => /auto|scroll/.test(getComputedStyle(element).overflowX);
  for (const element of document.querySelectorAll(
    "#console button, #console input, #console a, #console h1",
  )) {
    if (!isShown(element) || element.closest(".CodeMirror") !== null) continue;
    const { left, right, top, width, height } = element.getBoundingClientRect();
    const name = `${element.tagName} "${(element.textContent || element.getAttribute("aria-label") || "").slice(0, 20)}"`;
    if (
      right > innerWidth + 1 &&
      !upwards(element.parentElement).some(
        (one) => one.closest("main, body") !== one && canScroll(one),
      )
    ) {
      found.push(`${name}: ends at ${Math.round(right)} of ${innerWidth}`);
      continue;
    }
    const [x, y] = [left + width / 2, top + height / 2];
    if (x >= innerWidth || y < 0 || y >= innerHeight) continue;
    const shown = document.elementFromPoint(x, y);
    const isBelowScroll = upwards(element.parentElement).some((one) => {
      const box = one.getBoundingClientRect();
      return getComputedStyle(one).overflowY !== "visible" && (y < box.top || y > box.bottom);
    });
    if (shown !== null && !isBelowScroll && !element.contains(shown) && !shown.contains(element)) {
      found.push(
        `${name}: covered by ${shown.tagName}.${(shown.getAttribute("class") ?? "").slice(0, 30)}`,
      );
    }
  }

  // -----------------------------------------------------------------------------------------------------------------
  // Names

  const nameOf = (element) =>
    element.getAttribute("aria-label") ??
    ([...(element.labels ?? [])].map((one) => one.textContent).join("") ||
      element.textContent.trim() ||
      element.getAttribute("title") ||
      "");
  for (const element of document.querySelectorAll(
    "button, a[href], input, select, textarea, [role=tab]",
  )) {
    if (element.checkVisibility() && nameOf(element) === "") {
      found.push(
        `${element.tagName}.${(element.getAttribute("class") ?? "").slice(0, 40)}: no name`,
      );
    }
  }
  if (document.documentElement.lang === "") found.push("the page has no language");
  if (document.querySelectorAll("h1").length !== 1) found.push("the page has not one h1");
  return [...new Set(found)];
})();
