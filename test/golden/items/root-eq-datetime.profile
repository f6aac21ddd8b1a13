step                                                     estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                                 5        5      1
  root seek: eq made "2020-03-01T00:00:00Z" (index day)          5        5      1               1             5  taken: found all
  level 0                                                        5   5    5      1        5
    uid
    value made one
cost 7 expected, 7 read
