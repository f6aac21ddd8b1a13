step                                              estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                          5        3      1        5
  root seek: eq dgraph.type "Book" (index exact)          5        5      1               1             5  taken: found all
  group by shelf
    count
    max(pages)
  level 0                                                 5
cost 7 expected, 7 read
