step                        estimated  in  out  times  records  lists  tokens  uids
block 0: query q                    3        4      1
  root set: uid 5 3 5 9999          3
  level 0                           3   3    3      1        3
    uid
    value stars one
cost 4 expected, 3 read
