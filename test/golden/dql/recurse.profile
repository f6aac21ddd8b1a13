step                                            estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                        1        1      1
  root seek: eq name "Runa Vale" (index exact)          1        1      1               1             1  taken: found all
  recurse depth 3
  level 0                                                   5    5      3        5
    value name one
    value title one
    edge ~author                                            6    6      3
      level 0 again
    edge author                                             3    3      3
      level 0 again
cost 10 expected, 7 read
