step                                              estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                          1        0      1               2
  root seek: eq dgraph.type "Item" (index exact)       3000   4    4      1               1             4  tested by sets and indexes
    or eq price "17" (index int)                          4        4      1               1             4  taken: found all
    or eq kind "lamp" (index exact)                    1000
  filter and                                              1   4    0      1
    eq kind "lamp" (index exact)                          1   4    0      1               1                tested by sets and indexes
    eq price "17" (index int)                             4
  level 0                                                 1
    uid
    value price one
    value kind one
cost 7 expected, 6 read
