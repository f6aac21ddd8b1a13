step                                             estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                         2        2      1
  root set: eq dgraph.type "Book" (index exact)          5        5      1               1             5  taken: found all
  page first 2
  level 0 cascade                                        2   5    2      1        5
    value title one
    value pages one
    value keyword list
    edge author                                          3   5    5      1
      level 1 cascade                                    3   3    3      1        3
        value name one
cost 10 expected, 10 read
