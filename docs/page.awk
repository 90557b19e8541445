# Makes Doxygen read a Markdown page as GitHub does: headings get the anchors that links use (of start.md:
# start, start_install, ...), links lead there and to headers, and each page begins with a list of
# its parts.

# A page's name: that of its file, and of a README that of what it is about. Doxygen has a list of C++'s
# concepts of that name.
function name_of(path, parts, n) {
  n = split(path, parts, "/")
  sub(/\.md$/, "", parts[n])
  if (parts[n] == "concepts") return "basics"
  if (parts[n] != "README") return tolower(parts[n])
  return parts[n - 1] == "benchmarks" ? "benchmarks" : "overview"
}

function anchor(title) {
  title = tolower(title)
  gsub(/[^a-z0-9_ -]/, "", title)
  gsub(/ /, "-", title)
  return title
}

# What stands in the parentheses of a link, for Doxygen.
function target(link, parts, name) {
  if (link ~ /^[a-z]+:/) return link
  if (sub(/^(\.\.\/)*/, "", link) && link ~ /\.h$/) return "@ref " link
  split(link, parts, "#")
  name = parts[1] == "" ? page : name_of(link_path)
  return "@ref " name (parts[2] == "" ? "" : "_" parts[2])
}

function with_links(text, done, link) {
  done = ""
  while (match(text, /\]\([^) ]+\)/)) {
    link = substr(text, RSTART + 2, RLENGTH - 3)
    link_path = link
    sub(/#.*/, "", link_path)
    done = done substr(text, 1, RSTART + 1) target(link) ")"
    text = substr(text, RSTART + RLENGTH)
  }
  return done text
}

FNR == 1 { page = name_of(FILENAME) }

/^```/ { in_code = !in_code }

in_code || /^    / {
  print
  next
}

/^$/ || /^#/ { in_span = 0 }

/^# / && !has_title {
  has_title = 1
  print $0 (page == "index" ? "" : " {#" page "}\n\n[TOC]") "\n"
  next
}

/^#+ / {
  title = $0
  sub(/^#+ /, "", title)
  gsub(/`/, "")  # lists of headings show no code
  print $0 " {#" page "_" anchor(title) "}"
  next
}

{
  # Between backticks, which may stand on two lines, is code, which has no links. To Doxygen a quote ends
  # it, unless there are two backticks.
  n = split($0, pieces, "`")
  line = ""
  for (i = 1; i <= n; ++i) {
    if (!in_span) line = line with_links(pieces[i])
    else if (i < n && i > 1 && pieces[i] ~ /'/) line = line "`" pieces[i] "`"
    else line = line pieces[i]
    if (i < n) {
      line = line "`"
      in_span = !in_span
    }
  }
  print line
}
