step                                                             estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                                         5        5      1
  root set: between label "Label 10" "Label 1150" (index exact)          5        5      1                       5     5  taken: found all
  level 0                                                                5   5    5      1        5
    value label one
cost 7 expected, 8 read
