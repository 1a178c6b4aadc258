# Reads ctest's JUnit file: prints the reasons of skips with their counts, then the failures, then
# "N passed, N failed, N skipped". A skip without a reason is printed with the name of its test.

function plain(text) {
  gsub(/&lt;/, "<", text); gsub(/&gt;/, ">", text); gsub(/&quot;/, "\"", text)
  gsub(/&apos;/, "'", text); gsub(/&amp;/, "\\&", text)
  return text
}

function attribute(line, name,    start) {
  if (!match(line, " " name "=\"[^\"]*\"")) return ""
  start = RSTART + length(name) + 3
  return plain(substr(line, start, RLENGTH - length(name) - 4))
}

/<testcase / {
  name = attribute($0, "name")
  status = attribute($0, "status")
  skipped_here = 0
  reason = ""
  take_next = 0
}
/<skipped/ { skipped_here = 1 }
# GoogleTest writes "file:line: Skipped" and, on the next line, the reason.
take_next { if (reason == "") reason = plain($0); take_next = 0 }
/: Skipped$/ { take_next = 1 }
/<\/testcase>/ {
  if (skipped_here || status == "notrun" || status == "disabled") {
    ++skipped
    if (reason == "") reason = "no reason given: " name
    if (!(reason in count)) order[++reasons] = reason
    ++count[reason]
  } else if (status == "fail") {
    ++failed
    failures[failed] = name
  } else {
    ++passed
  }
}

END {
  for (i = 1; i <= reasons; ++i) printf "skipped %d: %s\n", count[order[i]], order[i]
  for (i = 1; i <= failed; ++i) printf "failed: %s\n", failures[i]
  printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
}
