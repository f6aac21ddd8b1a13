step                                         estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                     2        2      1
  root seek: eq count parts 3 (index count)        750        2      1               1             2  taken: sought in its list, as far as the page
  page first 2
  level 0                                            2   2    2      1        2
    uid
    count parts
block 1: query c                                   750      750      1
  root seek: eq count parts 3 (index count)        750      750      1               1                taken: counted in the head of its list
  level 1                                          750
    countUid
cost 8 expected, 5 read
