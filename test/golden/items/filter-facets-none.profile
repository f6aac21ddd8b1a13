step                                    estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                2        2      1
  root seek: eq code "c7" (index hash)          2        2      1               1             2  taken: found all
  level 0                                       2   2    2      1        2
    edge parts                                  4   2    0      1
      facet filter eq share "1"
      level 1                                   4
        uid
cost 4 expected, 4 read
