step                                           estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                      15       15      1                       5
  root set: ge price "895" (index int)                15       15      1                       5    15  taken: found all
    or eq dgraph.type "Item" (index exact)          3000
  filter eq dgraph.type "Item" (index exact)          15  15   15      1               1            15  tested by sets and indexes
  level 0                                             15  15   15      1
    uid
block 1: query n                                       0        0      1                       5
  root set: ge price "895" (index int)                15       15      1                       5    15  taken: found all
    or eq dgraph.type "Other" (index exact)            0
  filter eq dgraph.type "Other" (index exact)          0  15    0      1               1                tested by sets and indexes
  level 1                                              0
    uid
cost 18 expected, 13 read
