# Passes ctest's output on. Before its summary it prints the ten slowest tests, so that the summary stays last.
/^ *[0-9]+\/[0-9]+ Test +#/ {
  for (i = 1; i <= NF; ++i)
    if ($i == "sec") seconds[$4] = $(i - 1)
}
/% tests passed/ {
  print "The slowest tests:"
  for (n = 0; n < 10; ++n) {
    slowest = ""
    for (name in seconds)
      if (slowest == "" || seconds[name] + 0 > seconds[slowest] + 0) slowest = name
    if (slowest == "") break
    printf "%9.1f s  %s\n", seconds[slowest], slowest
    delete seconds[slowest]
  }
  print ""
}
{ print; fflush() }
