step                                    estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                2        2      1
  root seek: eq code "c7" (index hash)          2        2      1               1             2  taken: found all
  level 0                                       2   2    2      1        2
    checkpwd pin
cost 4 expected, 4 read
