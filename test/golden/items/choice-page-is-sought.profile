step                                              estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                          4        4      1               2
  root seek: eq dgraph.type "Item" (index exact)       3000       32      1               1            32  taken: sought in its list, as far as the page
    or eq open "true" (index bool)                     1500
  filter eq open "true" (index bool)                   1500  32   16      1               1            16  tested by sets and indexes
  page first 4 offset 2 after 100
  level 0                                                 4   4    4      1
    uid
cost 41 expected, 5 read
