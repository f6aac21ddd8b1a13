step                                              estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                          2        2      1
  root seek: has keyword                                  2        2      1               1                taken: counted in the head of its list
  level 0                                                 2
    countUid
block 1: query t                                          3        3      1
  root seek: eq dgraph.type "Book" (index exact)          5        3      1               1                taken: counted in the head of its list
  page first 3
  level 1                                                 3
    countUid
cost 3 expected, 2 read
