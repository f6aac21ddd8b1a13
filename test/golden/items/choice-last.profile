step                                    estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                3        3      1
  root set: ge price "890" (index int)         30       30      1                      10    30  taken: found all
  page first -3
  level 0                                       3   3    3      1        3
    uid
    value price one
cost 5 expected, 9 read
