step                                        estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                    8        8      1
  root set: eq price "17" "18" (index int)          8        8      1               2             8  taken: found all
  order by stars desc, weight (index int)           8   8    8      1        8                       sorted
  level 0                                           8   8    8      1        8
    uid
    value stars one
    value weight one
cost 18 expected, 19 read
