step                                            estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                       50        0      1       50
  root set: contains place "[7,7]" (index geo)         50       50      1              12            50  taken: found all
  level 0                                              50
    countUid
cost 52 expected, 63 read
