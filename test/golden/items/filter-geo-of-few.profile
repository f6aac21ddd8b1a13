step                                     estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                 2        0      1               1
  root seek: eq price "17" (index int)           4        4      1               1             4  taken: found all
    or near place "[7,7]" (index geo)         1750
  filter near place "[7,7]" (index geo)          2   4    0      1        4                       tested by the nodes' own values
  level 0                                        2
    uid
cost 6 expected, 7 read
