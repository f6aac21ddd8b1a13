step                                    estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                2        0      1               1
  root seek: eq price "17" (index int)          4        4      1               1             4  taken: found all
    or eq open "true" (index bool)           1500
  filter eq open "true" (index bool)            2   4    0      1               1                tested by sets and indexes
  level 0                                       2
    uid
    value price one
cost 8 expected, 4 read
