step                                    estimated  in  out  times  records  lists  tokens  uids
v as block 0: var                               4        4      1
  root seek: eq price "17" (index int)          4        4      1               1             4  taken: found all
  level 0                                       4   4    4      1
block 1: query q                                3        3      1
  root set: uid v                               4        4      1                                taken: tested as far as the page
  page first 3
  level 1                                       3   3    3      1        3
    uid
    value price one
cost 6 expected, 5 read
