// Texts that are too near to the colour behind them: [[ratio, what, text]], one for each kind of element.
(() => {
  const numbers = (colour) => {
    const found = colour.match(/-?[\d.]+(e-?\d+)?/g).map(Number);
    const scale = colour.startsWith("color(") ? 255 : 1;
    return [...found.slice(0, 3).map((part) => part * scale), found[3] ?? 1];
  };
  const over = (front, back) =>
    [0, 1, 2].map((i) => front[i] * front[3] + back[i] * (1 - front[3])).concat(1);
  const light = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((part) => {
      part /= 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      const colour = numbers(getComputedStyle(at).backgroundColor);
      layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reverse().reduce((back, front) => over(front, back), [255, 255, 255, 1]);
  };
  const strength = (element) => {
    let product = 1;
    for (let at = element; at; at = at.parentElement) product *= getComputedStyle(at).opacity;
    return product;
  };
  const found = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    const seen = { opacityProperty: true, visibilityProperty: true };
    if (!text || /^(SCRIPT|STYLE|NOSCRIPT)$/.test(element.tagName)) continue;
    if (!element.checkVisibility(seen) || element.closest(".headerlink, [hidden]")) continue;
    const style = getComputedStyle(element);
    const colour = numbers(style.color);
    const back = behind(element);
    colour[3] *= strength(element);
    const [a, b] = [light(over(colour, back)), light(back)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) {
      const what = `${element.tagName}.${element.className} in ${element.parentElement.className}`;
      if (!found.has(what)) found.set(what, [ratio.toFixed(2), what, text.slice(0, 30)]);
    }
  }
  return [...found.values()];
})()
