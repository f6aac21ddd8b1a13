step                                                estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                            3        3      1
  root seek: eq dgraph.type "Person" (index exact)          3        3      1               1             3  taken: found all
  normalize
  level 0                                                   3   3    3      1        3
    value name one
    edge ~author                                            5   5    5      1
      level 1                                               4   4    4      1        4
        value title one
cost 9 expected, 9 read
