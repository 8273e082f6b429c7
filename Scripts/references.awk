# For check_references of Scripts/lint: prints the files, folders and identifiers of the documents that do not exist. Its input
# has a line for each path that exists, for each word of the code, and for each span of a document, in this order:
#
#   path PATH
#   word WORD
#   span DOCUMENT:LINE TEXT

function path_exists(name) {
  sub(/^\.\//, "", name)
  sub(/\/$/, "", name)
  return name in known || ("/" name) in ends
}
$1 == "path" {
  # Every suffix of a path, and of the folders in it.
  path = substr($0, 6)
  while (1) {
    known[path] = 1
    rest = path
    while (sub(/^[^\/]*\//, "", rest)) ends["/" rest] = 1
    if (!sub(/\/[^\/]*$/, "", path)) break
  }
  next
}
$1 == "word" { words[$2] = 1; next }
{
  where = $2
  span = substr($0, length($1) + length($2) + 3)
  if (span ~ /[<*…]/ || span ~ /^\.build/) next
  first = span
  sub(/ .*/, "", first)
  is_path = first ~ /\// || first ~ /\.(swift|c|h|md|txt|pml|docc)$/
  if (is_path) {
    if (!path_exists(first)) print where ": " first
    next
  }
  if (span !~ /[A-Z.()_]/ || path_exists(span)) next
  count = split(span, parts, /[^A-Za-z0-9_]+/)
  for (i = 1; i <= count; i++)
    if (parts[i] ~ /^[A-Za-z_]/ && !(parts[i] in words)) {
      print where ": " parts[i] " in " span
    }
}
