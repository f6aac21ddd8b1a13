step                                    estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                1        2      1               1
  root seek: eq code "c7" (index hash)          2        2      1               1             2  taken: found all
    or ge price "3" (index int)
  filter ge price "3" (index int)               1   2    2      1        2                       tested by the nodes' own values
  level 0                                       1   2    2      1        2
    uid
    value price one
cost 5 expected, 7 read
