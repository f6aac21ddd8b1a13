step                                                estimated  in  out  times  records  lists  tokens  uids
block 0: var                                                3        3      1
  root seek: eq dgraph.type "Person" (index exact)          3        3      1               1             3  taken: found all
  level 0                                                   3   3    3      1        3
    n as count ~author
    edge ~author                                            5   5    5      1
      level 1                                               4   4    4      1        4
        p as value pages one
    most as aggregate max p through field 1
block 1: query q                                            3        3      1
  root set: uid n                                           3        3      1                                taken: found all
  order by val n desc                                       3   3    3      1                                sorted
  level 2                                                   3   3    3      1        3
    value name one
    val n
    val most
    math (+ (* n 100) most)
block 2: empty all                                                   1      1
  level 3
    aggregate sum p
    aggregate avg p
cost 13 expected, 12 read
