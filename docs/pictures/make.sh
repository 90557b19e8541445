#!/bin/bash
# Makes the pictures of the documentation from the HTML pages that the programs write. Needs chromium and a
# build.
#   docs/pictures/make.sh [BUILD_FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build/release}
pages=$(mktemp -d)
trap 'rm -rf "$pages"' EXIT

# picture PAGE SELECTOR THEME FILE: saves a drawing of a page to FILE, as the page's button "svg" does.
picture() {
  cat "$1" - >"$pages/page.html" <<SCRIPT
<script>
document.documentElement.dataset.theme = "$3";
addEventListener("load", () => {
  for (const each of document.querySelectorAll("[hidden]")) each.hidden = false;
  dispatchEvent(new Event("resize"));
  const text = drawing(document.querySelector("$2"));
  document.body.textContent = "picture:" + btoa(unescape(encodeURIComponent(text))) + ":end";
});
</script>
SCRIPT
  chromium --headless --no-sandbox --disable-gpu --window-size=900,900 --dump-dom "file://$pages/page.html" 2>/dev/null |
    grep -o 'picture:[^:]*:end' | cut -d: -f2 | base64 -d >"$4"
}

"$build/examples/train" --task recall --out "$pages/recall" >/dev/null
"$build/examples/lab/induction" --out "$pages" >/dev/null
for theme in light dark; do
  picture "$pages/recall/report.html" ".arcs" "$theme" "docs/pictures/recall-$theme.svg"
  picture "$pages/induction.html" ".chart svg" "$theme" "docs/pictures/induction-$theme.svg"
  # An SVG has one shape for each cell of a map, so a PNG of the map is smaller.
  picture "$pages/induction.html" ".map svg" "$theme" "$pages/pattern.svg"
  echo "<body style='margin:0'><img src='pattern.svg' width='520' height='519'>" >"$pages/pattern.html"
  chromium --headless --no-sandbox --disable-gpu --allow-file-access-from-files --window-size=520,519 \
    --screenshot="docs/pictures/pattern-$theme.png" "file://$pages/pattern.html" 2>/dev/null
done
