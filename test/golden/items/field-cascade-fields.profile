step                                    estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                3        3      1
  root set: ge price "890" (index int)         30       30      1                      10    30  taken: found all
  page first 3
  level 0 cascade parts                         3  30   24      1       30
    uid
    value note one
    edge parts                                  3  51   51      1
      page first 1
      level 1 cascade parts                     3  17   17      1
        uid
cost 32 expected, 36 read
