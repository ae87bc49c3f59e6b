(() => {
  // words of the page that stand on two lines, with a part on each
  const found = [], texts = document.createTreeWalker(document.querySelector("article"), NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) {
    const node = texts.currentNode
    if (node.parentElement.closest("pre, script, style, .headerlink")) continue
    for (const word of node.data.matchAll(/[A-Za-z_]\w{3,}/g)) {
      const range = document.createRange()
      range.setStart(node, word.index)
      range.setEnd(node, word.index + word[0].length)
      const tops = [...range.getClientRects()].map(box => Math.round(box.top))
      if (Math.max(...tops) - Math.min(...tops) > 5) found.push(word[0])
    }
  }
  return found
})()
