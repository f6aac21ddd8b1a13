step                                        estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                   50       50      1       50
  root set: near place "[7,7]" (index geo)         50       50      1              21            50  taken: found all
  level 0                                          50  50   50      1
    countUid
cost 52 expected, 72 read
