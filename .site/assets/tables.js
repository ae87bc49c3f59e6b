// A field above each table of 15 rows or more: rows that lack one of its words are hidden.
for (const table of document.querySelectorAll(".md-typeset table:not([class])")) {
  const rows = [...table.tBodies[0].rows];
  if (rows.length < 15) continue;
  const field = document.createElement("input");
  field.className = "table-filter";
  field.type = "search";
  field.placeholder = `Search these ${rows.length} rows`;
  field.setAttribute("aria-label", field.placeholder);
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  });
  table.closest(".md-typeset__scrollwrap, .md-typeset__table, table").before(field);
}
