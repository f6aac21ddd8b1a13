step                                              estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                         30       30      1               1      10
  root seek: eq dgraph.type "Item" (index exact)       3000  30   30      1               1            30  tested by sets and indexes
    or ge price "890" (index int)                        30       30      1                      10    30  taken: found all
  filter ge price "890" (index int)                      32
  level 0                                                30  30   30      1
    countUid
cost 32 expected, 13 read
