step                                              estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                          4        4      1               2
  root walk: eq dgraph.type "Item" (index exact)       3000
  order by price (index int)                           3000       32      1               1      10    67  walked its index as far as the page
  page first 4 offset 10
  level 0                                                 4   4    4      1        4
    uid
    value price one
cost 14 expected, 13 read
