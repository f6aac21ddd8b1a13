step                                  estimated  in  out  times  records  lists  tokens  uids
block 0: query q                             20       20      1
  root set: le price "5" (index int)         20       20      1                       5    20  taken: found all
  level 0                                    20  20   20      1       20
    uid
    value price one
cost 22 expected, 23 read
