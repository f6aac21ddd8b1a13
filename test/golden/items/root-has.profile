step                   estimated  in  out  times  records  lists  tokens  uids
block 0: query q               2        2      1
  root seek: has note         30        2      1               1             2  taken: sought in its list, as far as the page
  page first 2
  level 0                      2   2    2      1        2
    uid
    value note one
block 1: query c              30       30      1
  root seek: has note         30       30      1               1                taken: counted in the head of its list
  level 1                     30
    countUid
cost 5 expected, 5 read
