step                                      estimated  in   out  times  records  lists  tokens  uids
block 0: query q                                  3         3      1
  root seek: eq open "true" (index bool)       1500         3      1               1             3  taken: sought in its list, as far as the page
  page first 3
  level 0                                         3   3     3      1        3
    uid
    value open one
block 1: query c                               1500      1500      1
  root seek: eq open "true" (index bool)       1500      1500      1               1                taken: counted in the head of its list
  level 1                                      1500
    countUid
cost 13 expected, 6 read
