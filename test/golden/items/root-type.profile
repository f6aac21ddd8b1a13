step                                              estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                          2        2      1
  root seek: eq dgraph.type "Item" (index exact)       3000        2      1               1             2  taken: sought in its list, as far as the page
  page first 2
  level 0                                                 2   2    2      1
    uid
cost 2 expected, 2 read
