step                                             estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                         1        1      1
  root seek: eq label "Label 100" (index exact)          1        1      1               1             1  taken: found all
  level 0                                                1   1    1      1        1
    uid
    value label one
cost 3 expected, 3 read
