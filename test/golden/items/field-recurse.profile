step                          estimated  in  out  times  records  lists  tokens  uids
block 0: query q                      1        1      1
  root set: uid 950                   1
  recurse depth 3 loop false
  level 0                                 5    5      3        5
    uid
    edge parts                           10   10      3
      level 0 again
cost 8 expected, 5 read
