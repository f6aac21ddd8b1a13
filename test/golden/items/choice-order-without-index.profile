step                  estimated  in  out  times  records  lists  tokens  uids
block 0: query q              3        3      1
  root set: has note         30       30      1               1            30  taken: found all
  order by note desc         30  30    3      1       30                       selected by a heap
  page first 3
  level 0                     3   3    3      1        3
    value note one
cost 35 expected, 35 read
