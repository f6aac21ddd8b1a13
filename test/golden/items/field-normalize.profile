step                                    estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                2        2      1
  root seek: eq code "c7" (index hash)          2        2      1               1             2  taken: found all
  normalize
  level 0                                       2   2    2      1        2
    value code one
    edge parts                                  4   2    2      1
      page first 2
      level 1                                   4   2    2      1        2
        value stars one
cost 8 expected, 6 read
