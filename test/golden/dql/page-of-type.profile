step                                              estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                          2        2      1
  root seek: eq dgraph.type "Book" (index exact)          5        2      1               1             2  taken: sought in its list, as far as the page
  page first 2 offset 1
  level 0                                                 2   2    2      1        2
    uid
    value title one
cost 4 expected, 4 read
