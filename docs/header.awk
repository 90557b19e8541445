# Makes Doxygen show the line to include on the page of each function: it adds that line to the comments
# of what stands in a namespace and is no type. Of types Doxygen shows it by itself.
BEGIN {
  # What installed headers have for tend alone, and users need not see: Doxygen leaves out what is static.
  hidden = "^[a-zA-Z[].*[ &*](broadcast_shapes|broadcasts_to|contiguous_strides|detail_[a-z]+|element_count|" \
           "fail_memory|give_block|infer_shape|inverse_permutation|item_size|kMaxThreads|leading_shape|" \
           "reduced_count|reduced_shape|size_text|system_blocks|take_block|to_floating|unravel_index|" \
           "view_strides|with_matrix|wrap_dim|wrap_dims)( = |[({])"
}

# The definition of a method outside of its class would become a function named const.
/ methods::/ { sub(/methods::[A-Za-z]+::/, "detail_") }

$0 ~ hidden && !/^(static|extern|return)/ { sub(/^/, "static ") }

FNR == 1 {
  header = FILENAME
  sub(/.*\/tend\//, "tend/", header)
  root = substr(FILENAME, 1, length(FILENAME) - length(header))
}

# The rows of a table are declarations of the header that includes it; Doxyfile.in says of what.
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

# Prints $0, and before it the comment that is about it.
function show(    end) {
  if (/^\/\/\/ /) {
    comment = comment $0 "\n"
    return
  }
  # Lines between the comment and the declaration that it is about.
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
