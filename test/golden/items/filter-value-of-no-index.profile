step                                  estimated  in  out  times  records  lists  tokens  uids
block 0: query q                              3        1      1
  root seek: has note                        30       30      1               1            30  taken: found all
  filter eq note "note 300" (values)          3  30    1      1       30                       tested by the nodes' own values
  level 0                                     3   1    1      1        1
    value note one
cost 35 expected, 33 read
