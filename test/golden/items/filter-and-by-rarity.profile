step                                              estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                          0        0      1               3
  root seek: eq dgraph.type "Item" (index exact)       3000   4    4      1               1             4  tested by sets and indexes
    or eq stars "2" (index int)                         600
    or eq price "17" (index int)                          4        4      1               1             4  taken: found all
  filter and                                              0   4    0      1
    eq stars "2" (index int)                              1   4    0      1               1                tested by sets and indexes
    regexp words "e" (index trigram)                      0   0    0      1                                nothing was left to test
    eq price "17" (index int)                             4
  level 0                                                 0
    uid
cost 6 expected, 7 read
