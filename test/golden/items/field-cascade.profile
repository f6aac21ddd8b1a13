step                                    estimated  in  out  times  records  lists  tokens  uids
block 0: query q                               30        0      1
  root set: ge price "890" (index int)         30       30      1                      10    30  taken: found all
  level 0 cascade                              30  30    0      1       30
    uid
    value note one
    edge parts                                 58  51   51      1
      level 1 cascade                          58  17   17      1
        uid
cost 32 expected, 36 read
