step                                              estimated   in  out  times  records  lists  tokens  uids
block 0: query q                                          3         3      1               1       3   225
  root seek: eq dgraph.type "Item" (index exact)       3000   32   32      1               1            32  tested by sets and indexes
    or ge count ~parts 9 (index count)                  225       225      1                       3   225  taken: tested as far as the page
  filter ge count ~parts 9 (index count)               1000
  page first 3
  level 0                                                 3    3    3      1
    uid
block 1: query c                                        225       225      1               1       3   225
  root seek: eq dgraph.type "Item" (index exact)       3000  225  225      1               1           225  tested by sets and indexes
    or ge count ~parts 9 (index count)                  225       225      1                       3   225  taken: found all
  filter ge count ~parts 9 (index count)               1000
  level 1                                               225  225  225      1
    countUid
cost 39 expected, 16 read
