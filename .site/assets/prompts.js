// The copy button of a session copies what one can run: no prompts, and no outputs.
for (const code of document.querySelectorAll(".highlight code")) {
  if (!code.querySelector(".gp")) continue;
  const lines = code.textContent.split("\n");
  const typed = lines.filter((line) => /^(>>>|\.\.\.)( |$)/.test(line)).map((line) => line.slice(4));
  code.dataset.copy = typed.join("\n");
}
