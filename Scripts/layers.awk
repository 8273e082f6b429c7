# For check_layers of Scripts/lint: prints what a file uses although it is declared only in layers above the file's own: a type, a
# function, or a member that an extension there gives to a type of a lower layer. By words: comments and strings do not count, nor
# does a name that is also declared in the file's own layer or below it.
#
#   awk -f Scripts/layers.awk Scripts/layers.txt FILE…

# The layer of a file: that of the longest listed folder that contains it.
function layer_of(file,    folder) {
  for (folder = file; sub(/\/[^\/]*$/, "", folder);) if (folder in layers) return layers[folder]
  return 0
}
function declare(word, layer) {
  if (!(word in lowest) || layer < lowest[word]) lowest[word] = layer
}
FILENAME == "Scripts/layers.txt" {
  sub(/#.*/, "")
  if (NF) for (layer++; NF; NF--) layers[$NF] = layer
  next
}
FNR == 1 {
  in_text = in_comment = in_condition = 0
  file_layer[FILENAME] = layer_of(FILENAME)
  if (!file_layer[FILENAME]) print FILENAME ": its folder is in no layer."
}
{
  # Texts of several lines, comments of several lines, texts, comments of one line.
  if (gsub(/"""/, "\"\"\"") % 2) { in_text = !in_text; next }
  if (in_text) next
  if (in_comment) { if (/\*\//) in_comment = 0; next }
  gsub(/"([^"\\]|\\.)*"/, "")
  sub(/\/\/.*/, "")
  if (/\/\*/ && !/\*\//) in_comment = 1
  here = file_layer[FILENAME]
  # What is inside of an #if of the file is one level further in.
  if (/^#if/) in_condition = 1
  if (/^#endif/) in_condition = 0
  is_top = in_condition ? /^(  )?[^ ]/ : /^[^ ]/
  if (match($0, /^(  )?((public|package|private|fileprivate) )?extension [A-Za-z0-9_]+/)) {
    extended = substr($0, RSTART, RLENGTH)
    sub(/.* /, "", extended)
  } else if (is_top && !/^[#}]/) {
    extended = ""
  }
  # A member of what is extended stands one level inside, or two in an #if.
  is_member = extended != "" && /^(  |    )[^ ]/
  # A label or a parameter is no use of a member, but declares what the body may use.
  text = $0
  while (match(text, /[A-Za-z_][A-Za-z0-9_]*( [A-Za-z_][A-Za-z0-9_]*)?:/)) {
    count = split(substr(text, RSTART, RLENGTH - 1), words, " ")
    for (i = 1; i <= count; i++) declare(words[i], here)
    text = substr(text, RSTART + RLENGTH)
  }
  count = split($0, words, /[^A-Za-z0-9_]+/)
  for (i = 1; i <= count; i++) {
    word = words[i]
    if (word !~ /^[A-Za-z]/) continue
    # It declares the error that it caught.
    if (word == "catch") declare("error", here)
    if (words[i - 1] ~ /^(struct|class|enum|protocol|actor|typealias|associatedtype)$/) {
      declare(word, here)
      if (is_top) is_checked[word] = 1
    } else if (words[i - 1] ~ /^(func|var|let|case|subscript)$/) {
      declare(word, here)
      if (words[i - 1] == "func" && is_top) is_checked[word] = 1
      if (is_member) members[word] = members[word] " " extended SUBSEP here
    }
    if (!((FILENAME, word) in line)) line[FILENAME, word] = FNR
  }
}
END {
  for (word in members) {
    count = split(members[word], places, " ")
    for (i = 1; i <= count; i++) {
      split(places[i], part, SUBSEP)
      if (part[1] in lowest && lowest[part[1]] < part[2]) is_checked[word] = 1
    }
  }
  for (use in line) {
    split(use, part, SUBSEP)
    file = part[1]
    word = part[2]
    if (!(word in is_checked) || lowest[word] <= file_layer[file]) continue
    print file ":" line[use] ": " word " is declared in a layer above."
  }
}
