step                                                             estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                                         2        2      1
  root set: eq title "Salt Harbours" "Salt Roads" (index exact)          2        2      1               2             2  taken: found all
  order by title (index exact)                                           2   2    2      1        2                       sorted
  level 0                                                                2   2    2      1        2
    value title one
    value title@fr one
    value price one
    edge author                                                          2   3    2      1
      facets share
      filter not eq name "Nobody" (index exact)                          3   2    2      1
      order by name desc (index exact)                                       3    3      1        2
      page first 1
      level 1                                                            2   1    1      1        1
        value name one
        edge ~author                                                     3   2    2      1
          level 2                                                        3   2    2      1        2
            value title one
    edge sequel single                                                   2   1    1      1
      level 3                                                            1   1    1      1        1
        value title one
cost 17 expected, 14 read
