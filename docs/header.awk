# Makes Doxygen show the #include line on the page of each function: the line is added to the comment of
# everything in a namespace that is not a type. For types, Doxygen shows the line by itself.
BEGIN {
  # Names in installed headers that only tend uses. They are made static here, because Doxygen leaves out
  # static names.
  hidden = "^[a-zA-Z[].*[ &*](broadcast_shapes|broadcasts_to|contiguous_strides|detail_[a-z]+|element_count|" \
           "fail_memory|give_block|infer_shape|inverse_permutation|item_size|kMaxThreads|leading_shape|" \
           "reduced_count|reduced_shape|size_text|system_blocks|take_block|to_floating|unravel_index|" \
           "view_strides|with_matrix|wrap_dim|wrap_dims)( = |[({])"
}

# Doxygen would read the definition of a method outside its class as a function named const. The prefix
# detail_ hides it.
/ methods::/ { sub(/methods::[A-Za-z]+::/, "detail_") }

$0 ~ hidden && !/^(static|extern|return)/ { sub(/^/, "static ") }

FNR == 1 {
  header = FILENAME
  sub(/.*\/tend\//, "tend/", header)
  root = substr(FILENAME, 1, length(FILENAME) - length(header))
}

# The rows of a table become declarations in the header that includes the table. Doxyfile.in says which
# declaration each kind of row becomes.
/^#define TEND_TABLE / {
  gsub(/.*<|>.*/, "")
  table = root $0
  while ((getline line < table) > 0) {
    $0 = line
    show()
  }
  next
}
/^#define TEND_ROWS_|row_forms\.h>/ { next }

{ show() }

# Prints the line $0, preceded by its comment. Collects the lines of a comment until its declaration
# follows.
function show(    end) {
  $0 = with_list($0)
  if (/^\/\/\/ /) {
    comment = comment $0 "\n"
    return
  }
  # Lines between a comment and its declaration.
  if (comment != "" && /^(template|requires|\/\/\/$)/) {
    comment = comment $0 "\n"
    return
  }
  if (comment != "") {
    if (comment !~ /\\file/ && !/^(struct|class|enum|namespace|#|\/\/|$)/) {
      end = match(comment, /\n(template|requires)/) ? RSTART : length(comment)
      comment = substr(comment, 1, end) "///\n/// `#include <" header ">`\n" substr(comment, end + 1)
    }
    printf "%s", comment
    comment = ""
  }
  print
}

END { printf "%s", comment }

# Converts a line of a comment. A list of errors becomes a Markdown list: "///   ShapeError - why" becomes
# "/// - ShapeError: why". Other lines stay unchanged.
function with_list(line, start) {
  if (line !~ /^ *\/\/\//) in_errors = 0
  else if (line ~ /\/\/\/ Throws.*:$/) in_errors = 1
  else if (line ~ /\/\/\/ Throws: /) sub(/ +- /, ": ", line)
  else if (in_errors && line ~ /^ *\/\/\/ +[A-Z][A-Za-z]*(, [A-Z][A-Za-z]*)* +- /) {
    match(line, /^ *\/\/\/ /)
    start = substr(line, 1, RLENGTH)
    line = substr(line, RLENGTH + 1)
    sub(/^ +/, "", line)
    sub(/ +- +/, ": ", line)
    line = start "- " line
  }
  return line
}
