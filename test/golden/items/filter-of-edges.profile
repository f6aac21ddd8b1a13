step                                    estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                2        2      1
  root seek: eq code "c7" (index hash)          2        2      1               1             2  taken: found all
  level 0                                       2   2    2      1        2
    edge parts                                  2   2    2      1
      filter ge stars "3" (index int)           2   2    2      1        2                       tested by the nodes' own values
      order by price desc (index int)               2    2      1        2
      page first 2
      level 1                                   2   2    2      1        2
        uid
        value stars one
        value price one
cost 12 expected, 10 read
