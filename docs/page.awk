# Makes Doxygen read a Markdown page as GitHub does. Headings get the anchors that links use (in start.md:
# start, start_install, ...). Links lead to these anchors and to headers. Each page begins with a list of
# its sections.

# The name of a page: the name of its file. A README is named after its subject. "concepts" is renamed,
# because Doxygen uses that name for its list of C++ concepts.
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

# Converts the target of a Markdown link (the text in parentheses) for Doxygen.
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

# Prints HTML that Doxygen does not read.
function html(text) { print "\n@htmlonly[block]\n" text "\n@endhtmlonly\n" }

# Prints the lines of a file from the one that contains `first` to the one that begins with `last`; only one
# line if `last` is empty.
function print_piece(file, first, last, line, above, found) {
  print "```{.cpp}"
  while ((getline line < file) > 0) {
    if (!found && index(line, first)) {
      found = 1
      printf "%s%s\n", above, line
      if (last == "") break
      continue
    }
    if (found) {
      print line
      if (index(line, last) == 1) {
        last = ""
        break
      }
    } else {
      above = line ~ /^ *(\/\/|template)/ ? above line "\n" : ""
    }
  }
  close(file)
  print "```\n"
  if (!found || last != "") {
    print file ": no piece from \"" first "\" to \"" last "\"" > "/dev/stderr"
    exit_code = 1
  }
}

END { exit exit_code }

FNR == 1 { page = name_of(FILENAME); folder = FILENAME; sub(/[^\/]*$/, "", folder) }

# A line with a link to a source, and with the texts at which a piece of this source begins and ends. The
# piece becomes a column of code next to the text before the link. The comment above its first line is
# included.
/ <!-- from ".*" to ".*" -->$/ {
  split($0, parts, /" to "|<!-- from "|" -->/)
  match($0, /\([^)]*\)/)
  file = folder substr($0, RSTART + 1, RLENGTH - 2)
  if (!in_walk) html("<div class=\"walk\"><div>")
  gsub(/^\[|\]\(.*/, "", parts[1])  # the site has no pages for sources, so the link becomes text
  html("</div><div>")
  print "`" parts[1] "`\n"
  print_piece(file, parts[2], parts[3])
  html("</div></div>")
  in_walk = 0
  next
}

{ gsub(/"docs\/pictures\//, "\"pictures/") }

# Doxygen has no <picture>; the style sheet chooses between two images.
/^<\/?picture>$/ { next }
/^ *<source .*srcset=/ {
  sub(/^.*srcset=/, "<img class=\"dark\" alt=\"\" src=")
  sub(/>$/, "/>")
}
/^ *<img src=/ {
  sub(/<img/, /-light/ ? "<img class=\"light\"" : "<img")
  sub(/>$/, "/>")
}

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
  in_walk = page == "inside" && /^####/
  if (in_walk) {
    # A heading in HTML is left out of the list of sections.
    html("<div class=\"walk\"><div><h3>" title "</h3>")
    next
  }
  print $0 " {#" page "_" anchor(title) "}"
  next
}

{
  # Text between backticks is code, possibly over two lines, and contains no links. For Doxygen, a quote
  # ends the code, unless it is between double backticks.
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
