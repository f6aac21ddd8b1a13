step                    estimated  in  out  times  records  lists  tokens  uids
block 0: query q                         3      1       60
  root set: has label                   60      1               1            60  taken: found all
  order by label@de                60    3      1       60                       selected by a heap
  page first 3
  level 0                           3    3      1        3
    value label@de one
cost 85 expected, 125 read
