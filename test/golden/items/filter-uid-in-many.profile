step                                              estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                         17       17      1               3
  root seek: eq dgraph.type "Item" (index exact)       3000  17   17      1               1            17  tested by sets and indexes
    or uid_in parts 3 4                                  17       17      1               2            17  taken: found all
  filter uid_in parts 3 4                                23
  level 0                                                17  17   17      1
    uid
cost 19 expected, 7 read
